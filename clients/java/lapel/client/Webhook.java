package lapel.client;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.time.Clock;
import java.time.Duration;
import java.util.Base64;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** Verifies webhooks (Standard Webhooks). It may be used by several threads. */
public final class Webhook {
    private final String[] keys;
    private final Duration tolerance;
    private final Clock clock;

    /**
     * A verification with keys: authenticationKeys ({@code whsec_...}), or public keys of Ed25519 ({@code whpk_...}). One
     * signature by one of them is enough.
     */
    public Webhook(String... keys) {
        this(Duration.ofMinutes(5), Clock.systemUTC(), keys);
    }

    public Webhook(Duration tolerance, Clock clock, String... keys) {
        this.tolerance = tolerance;
        this.clock = clock;
        this.keys = keys.clone();
    }

    /**
     * Whether a webhook is genuine, and new enough. The body is what was received, before anything has parsed it; a header that
     * is not there is null.
     *
     * @throws IllegalArgumentException for a key of another form
     */
    public boolean isGenuine(String id, String timestamp, String signatures, byte[] body) {
        if (id == null || id.isEmpty() || signatures == null) return false;
        if (timestamp == null || !timestamp.matches("[0-9]{1,12}")) return false;
        if (Math.abs(clock.instant().getEpochSecond() - Long.parseLong(timestamp)) > tolerance.getSeconds()) return false;
        byte[] head = (id + "." + timestamp + ".").getBytes(StandardCharsets.UTF_8);
        byte[] signed = new byte[head.length + body.length];
        System.arraycopy(head, 0, signed, 0, head.length);
        System.arraycopy(body, 0, signed, head.length, body.length);
        boolean found = false;
        for (String key : keys) {
            for (String signature : signatures.split(" ")) {
                found |= key.startsWith("whpk_") ? isOfPublic(key, signature, signed) : isOfSecret(key, signature, signed);
            }
        }
        return found;
    }

    private static boolean isOfPublic(String key, String signature, byte[] signed) {
        byte[] publicKey = Base64.getDecoder().decode(key.substring("whpk_".length()));
        if (!signature.startsWith("v1a,")) return false;
        try {
            return Ed25519.verify(publicKey, signed, Base64.getDecoder().decode(signature.substring("v1a,".length())));
        } catch (IllegalArgumentException noBase64) {
            return false;
        }
    }

    private static boolean isOfSecret(String key, String signature, byte[] signed) {
        byte[] secret = Base64.getDecoder().decode(key.startsWith("whsec_") ? key.substring("whsec_".length()) : key);
        try {
            Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(new SecretKeySpec(secret, "HmacSHA256"));
            String expected = "v1," + Base64.getEncoder().encodeToString(mac.doFinal(signed));
            return MessageDigest.isEqual(expected.getBytes(StandardCharsets.UTF_8), signature.getBytes(StandardCharsets.UTF_8));
        } catch (GeneralSecurityException impossible) {
            throw new IllegalStateException("every Java has HmacSHA256", impossible);
        }
    }
}
