package lapel.device;

import java.math.BigInteger;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.Base64;

/**
 * Verifies signatures of Ed25519 (RFC 8032, section 5.1.7), because {@code java.security} has them only from Java 15
 * and Android 13 on. It does not sign: it works with public numbers only, so its time may depend on them.
 *
 * <p>All methods may be called by any thread. One verification takes some tens of milliseconds.
 */
public final class Ed25519 {
    private static final int BYTES = 32;
    private static final BigInteger TWO = BigInteger.valueOf(2);
    private static final BigInteger P = TWO.pow(255).subtract(BigInteger.valueOf(19));
    private static final BigInteger ORDER =
            TWO.pow(252).add(new BigInteger("27742317777372353535851937790883648493"));
    private static final BigInteger D =
            BigInteger.valueOf(-121665).multiply(BigInteger.valueOf(121666).modInverse(P)).mod(P);
    private static final BigInteger ROOT_OF_MINUS_ONE =
            TWO.modPow(P.subtract(BigInteger.ONE).shiftRight(2), P);
    private static final BigInteger[] BASE =
            decoded(encoded(BigInteger.valueOf(4).multiply(BigInteger.valueOf(5).modInverse(P)).mod(P), false));
    /** What stands before the 32 bytes of a key in a SubjectPublicKeyInfo (RFC 8410). */
    private static final byte[] PREFIX = {0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00};

    private Ed25519() {}

    /**
     * The 32 bytes of a public key that is given as PEM ({@code BEGIN PUBLIC KEY}).
     *
     * @throws IllegalArgumentException when it is not a public key of Ed25519
     */
    public static byte[] publicKey(String pem) {
        String base64 = pem.replaceAll("-----[A-Z ]+-----|\\s", "");
        byte[] der = Base64.getDecoder().decode(base64);
        boolean isKey = der.length == PREFIX.length + BYTES && Arrays.equals(Arrays.copyOf(der, PREFIX.length), PREFIX);
        if (!isKey) throw new IllegalArgumentException("the key is not a public key of Ed25519");
        return Arrays.copyOfRange(der, PREFIX.length, der.length);
    }

    /** Whether the key has signed the message. A key or signature of another form has not. */
    public static boolean verify(byte[] publicKey, byte[] message, byte[] signature) {
        if (publicKey.length != BYTES || signature.length != 2 * BYTES) return false;
        byte[] r = Arrays.copyOf(signature, BYTES);
        BigInteger s = number(Arrays.copyOfRange(signature, BYTES, 2 * BYTES));
        BigInteger[] key = decoded(publicKey);
        if (key == null || s.compareTo(ORDER) >= 0) return false;
        BigInteger h = number(sha512(r, publicKey, message)).mod(ORDER);
        BigInteger[] negative = {P.subtract(key[0]).mod(P), key[1], BigInteger.ONE, P.subtract(key[3]).mod(P)};
        BigInteger[] point = sum(product(s, BASE), product(h, negative));
        BigInteger inverse = point[2].modInverse(P);
        BigInteger x = point[0].multiply(inverse).mod(P);
        return Arrays.equals(encoded(point[1].multiply(inverse).mod(P), x.testBit(0)), r);
    }

    private static byte[] sha512(byte[]... parts) {
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-512");
            for (byte[] part : parts) digest.update(part);
            return digest.digest();
        } catch (NoSuchAlgorithmException impossible) { // each Java and each Android has it
            throw new IllegalStateException(impossible);
        }
    }

    /** Numbers are little-endian (section 5.1.2). */
    private static BigInteger number(byte[] littleEndian) {
        byte[] bytes = new byte[littleEndian.length];
        for (int i = 0; i < bytes.length; i++) bytes[i] = littleEndian[bytes.length - 1 - i];
        return new BigInteger(1, bytes);
    }

    private static byte[] encoded(BigInteger y, boolean isOdd) {
        byte[] bytes = new byte[BYTES];
        for (int i = 0; i < 8 * BYTES; i++) if (y.testBit(i)) bytes[i / 8] |= (byte) (1 << (i % 8));
        if (isOdd) bytes[BYTES - 1] |= (byte) 0x80;
        return bytes;
    }

    /** The point of 32 bytes, as X, Y, Z and T (section 5.1.3); null when they are none. */
    private static BigInteger[] decoded(byte[] bytes) {
        BigInteger number = number(bytes);
        boolean isOdd = number.testBit(255);
        BigInteger y = number.clearBit(255);
        if (y.compareTo(P) >= 0) return null;
        BigInteger square = y.multiply(y).mod(P);
        BigInteger u = square.subtract(BigInteger.ONE).mod(P);
        BigInteger v = D.multiply(square).add(BigInteger.ONE).mod(P);
        BigInteger quotient = u.multiply(v.modInverse(P)).mod(P);
        BigInteger x = quotient.modPow(P.add(BigInteger.valueOf(3)).shiftRight(3), P);
        if (!x.multiply(x).mod(P).equals(quotient)) x = x.multiply(ROOT_OF_MINUS_ONE).mod(P);
        if (!x.multiply(x).mod(P).equals(quotient)) return null;
        if (x.signum() == 0 && isOdd) return null;
        if (x.testBit(0) != isOdd) x = P.subtract(x);
        return new BigInteger[] {x, y, BigInteger.ONE, x.multiply(y).mod(P)};
    }

    /** The sum of two points (section 5.1.4); it is right for two equal ones as well. */
    private static BigInteger[] sum(BigInteger[] p, BigInteger[] q) {
        BigInteger a = p[1].subtract(p[0]).multiply(q[1].subtract(q[0])).mod(P);
        BigInteger b = p[1].add(p[0]).multiply(q[1].add(q[0])).mod(P);
        BigInteger c = TWO.multiply(p[3]).multiply(q[3]).multiply(D).mod(P);
        BigInteger d = TWO.multiply(p[2]).multiply(q[2]).mod(P);
        BigInteger e = b.subtract(a);
        BigInteger f = d.subtract(c);
        BigInteger g = d.add(c);
        BigInteger h = b.add(a);
        return new BigInteger[] {e.multiply(f).mod(P), g.multiply(h).mod(P), f.multiply(g).mod(P), e.multiply(h).mod(P)};
    }

    private static BigInteger[] product(BigInteger factor, BigInteger[] point) {
        BigInteger[] result = {BigInteger.ZERO, BigInteger.ONE, BigInteger.ONE, BigInteger.ZERO};
        for (int i = factor.bitLength() - 1; i >= 0; i--) {
            result = sum(result, result);
            if (factor.testBit(i)) result = sum(result, point);
        }
        return result;
    }
}
