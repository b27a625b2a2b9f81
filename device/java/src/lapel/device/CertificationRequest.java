package lapel.device;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.Signature;
import java.util.Base64;

/**
 * A certification request (PKCS #10, RFC 2986) for a key that never leaves its key store: only its owner can sign with it.
 * All methods may be called by any thread.
 */
public final class CertificationRequest {
    private static final int SEQUENCE = 0x30;
    private static final int SET = 0x31;
    private static final int BIT_STRING = 0x03;
    private static final int UTF8_STRING = 0x0c;
    private static final int ATTRIBUTES = 0xa0;
    private static final byte[] VERSION_1 = {0x02, 0x01, 0x00};
    /** 2.5.4.3, the common name. */
    private static final byte[] COMMON_NAME = {0x06, 0x03, 0x55, 0x04, 0x03};
    /** 1.2.840.10045.4.3.2, ECDSA with SHA-256. */
    private static final byte[] ECDSA = {0x06, 0x08, 0x2a, (byte) 0x86, 0x48, (byte) 0xce, 0x3d, 0x04, 0x03, 0x02};
    /** 1.2.840.113549.1.1.11, RSA with SHA-256, and NULL. */
    private static final byte[] RSA = {
        0x06, 0x09, 0x2a, (byte) 0x86, 0x48, (byte) 0x86, (byte) 0xf7, 0x0d, 0x01, 0x01, 0x0b, 0x05, 0x00
    };

    private CertificationRequest() {}

    /**
     * The request in PEM.
     *
     * @param keys of EC (P-256 or P-384), or of RSA with 2048 to 4096 bits
     * @throws GeneralSecurityException when the key cannot sign with SHA-256
     */
    public static String of(KeyPair keys, String deviceId) throws GeneralSecurityException {
        boolean isRsa = "RSA".equals(keys.getPublic().getAlgorithm());
        byte[] name = der(SEQUENCE, COMMON_NAME, der(UTF8_STRING, deviceId.getBytes(StandardCharsets.UTF_8)));
        byte[] subject = der(SEQUENCE, der(SET, name));
        byte[] info = der(SEQUENCE, VERSION_1, subject, keys.getPublic().getEncoded(), der(ATTRIBUTES));
        Signature signature = Signature.getInstance(isRsa ? "SHA256withRSA" : "SHA256withECDSA");
        signature.initSign(keys.getPrivate());
        signature.update(info);
        byte[] signed = der(BIT_STRING, new byte[] {0}, signature.sign());
        byte[] request = der(SEQUENCE, info, der(SEQUENCE, isRsa ? RSA : ECDSA), signed);
        String base64 = Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(request);
        return "-----BEGIN CERTIFICATE REQUEST-----\n" + base64 + "\n-----END CERTIFICATE REQUEST-----\n";
    }

    /** A value of DER: its tag, its length, its parts. */
    private static byte[] der(int tag, byte[]... parts) {
        ByteArrayOutputStream body = new ByteArrayOutputStream();
        for (byte[] part : parts) body.write(part, 0, part.length);
        ByteArrayOutputStream value = new ByteArrayOutputStream();
        value.write(tag);
        int length = body.size();
        int bytes = length < 128 ? 0 : length < 256 ? 1 : 2;
        if (bytes == 0) value.write(length);
        else value.write(0x80 | bytes);
        for (int i = bytes - 1; i >= 0; i--) value.write(length >> (8 * i));
        value.write(body.toByteArray(), 0, length);
        return value.toByteArray();
    }
}
