package lapel.device;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.HttpURLConnection;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.PublicKey;
import java.security.SecureRandom;
import java.security.cert.X509Certificate;
import java.util.Arrays;
import java.util.Base64;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.concurrent.ThreadLocalRandom;
import javax.net.ssl.HttpsURLConnection;
import javax.net.ssl.SSLSocketFactory;

/**
 * How a device comes to its credential or its certificate: "Enrolment" in docs/devices.md. Its nonce, and what it got, are
 * in the file of the device, as the setting {@code enrolment}.
 *
 * <p>The methods that ask wait as long as it takes, which may be days; a thread of the maker calls them, and ends them by
 * {@link Thread#interrupt}.
 */
public final class Enrolment {
    private static final String SETTING = "enrolment";
    private static final int NONCE_BYTES = 24;
    private static final int TIMEOUT = 60_000;
    private static final int MOST_ANSWER_BYTES = 64 * 1024;
    private static final long FIRST_PAUSE = 1_000;
    private static final long LONGEST_PAUSE = 3_600_000;
    private final Device device;
    private final String url;
    private final SSLSocketFactory tls;

    /**
     * @param url the address of the API, as {@code https://lapel.example}
     * @param tls the CA of the service; null for those of the system
     */
    public Enrolment(Device device, String url, SSLSocketFactory tls) {
        this.device = device;
        this.url = url;
        this.tls = tls;
    }

    /**
     * The credential of the device: the stored one, or one for the code of its batch.
     *
     * @throws DeviceFailure when the batch gives certificates
     * @throws IOException when the disk fails
     */
    public String credential(String code) throws DeviceFailure, IOException, InterruptedException {
        String stored = Json.text(state().get("credential"));
        try {
            return stored == null ? enrolled(code, null, "credential") : stored;
        } catch (GeneralSecurityException impossible) { // there is no key
            throw new IllegalStateException(impossible);
        }
    }

    /**
     * The certificate of the device, in PEM: the stored one, or one for the code of its batch. The key must be kept before
     * this is called.
     *
     * @throws DeviceFailure when the batch gives credentials, or does not take the key
     */
    public String certificate(String code, KeyPair keys)
            throws DeviceFailure, IOException, InterruptedException, GeneralSecurityException {
        String stored = Json.text(state().get("certificate"));
        return stored == null ? enrolled(code, keys, "certificate") : stored;
    }

    /**
     * Asks for another certificate. Both are kept: log in with this one ({@link SocketTransport#tryNext}), and say
     * {@link #loggedIn} when that has succeeded.
     *
     * @param keys the present ones, or new ones, which must be kept beside the present ones
     * @param shown TLS that shows the present certificate
     */
    public String renewed(KeyPair keys, SSLSocketFactory shown)
            throws DeviceFailure, IOException, InterruptedException, GeneralSecurityException {
        Map<String, Object> body =
                Json.of("deviceId", device.deviceId(), "csr", CertificationRequest.of(keys, device.deviceId()));
        String next = ask("/v1/enrolments/renewals", body, shown, "certificate");
        checkCertificate(next, keys);
        keep("next", next);
        return next;
    }

    /** Whether a third of the time of a certificate, or less, is left. */
    public static boolean isDue(String certificatePem, long now) throws GeneralSecurityException {
        X509Certificate certificate = (X509Certificate) Tls.certificates(certificatePem).iterator().next();
        long begin = certificate.getNotBefore().getTime();
        long end = certificate.getNotAfter().getTime();
        return end - now <= (end - begin) / 3;
    }

    /** After the first login with what was got last: what came before it is forgotten. */
    public void loggedIn() throws IOException {
        Map<String, Object> state = state();
        boolean hadMore = state.remove("nonce") != null;
        Object next = state.remove("next");
        if (next != null) state.put("certificate", next);
        if (hadMore || next != null) device.set(SETTING, state);
    }

    private Map<String, Object> state() {
        Map<String, Object> state = Json.object(device.setting(SETTING));
        return state == null ? Json.of() : state;
    }

    private void keep(String name, Object value) throws IOException {
        Map<String, Object> state = state();
        state.put(name, value);
        device.set(SETTING, state);
    }

    private String enrolled(String code, KeyPair keys, String member)
            throws DeviceFailure, IOException, InterruptedException, GeneralSecurityException {
        if (state().get("nonce") == null) keep("nonce", newNonce()); // before the first request, so that it can ask again
        Map<String, Object> body = Json.of("deviceId", device.deviceId(), "code", code, "nonce", state().get("nonce"));
        if (keys != null) body.put("csr", CertificationRequest.of(keys, device.deviceId()));
        String got = ask("/v1/enrolments", body, tls, member);
        if (keys != null) checkCertificate(got, keys);
        keep(member, got);
        return got;
    }

    /** One that is none, or is for another key, would be kept, and no login would succeed with it, after no restart. */
    private static void checkCertificate(String pem, KeyPair keys) throws DeviceFailure {
        boolean isOfKey;
        try {
            PublicKey its = Tls.certificates(pem).iterator().next().getPublicKey();
            isOfKey = Arrays.equals(its.getEncoded(), keys.getPublic().getEncoded());
        } catch (GeneralSecurityException | NoSuchElementException none) {
            isOfKey = false;
        }
        if (!isOfKey) throw new DeviceFailure("INVALID_ANSWER", "the service has not given a certificate for the key");
    }

    private static String newNonce() {
        byte[] nonce = new byte[NONCE_BYTES];
        new SecureRandom().nextBytes(nonce);
        return Base64.getUrlEncoder().withoutPadding().encodeToString(nonce);
    }

    private String ask(String path, Map<String, Object> body, SSLSocketFactory factory, String member)
            throws DeviceFailure, InterruptedException {
        for (long pause = FIRST_PAUSE; ; pause = Math.min(2 * pause, LONGEST_PAUSE)) {
            Answer answer;
            try {
                answer = new Answer(open(path, factory), Json.write(body));
            } catch (IOException failure) {
                device.log("info", "not enrolled: " + failure);
                answer = null;
            }
            if (answer != null && answer.status == 201) {
                String got = answer.body == null ? null : Json.text(answer.body.get(member));
                if (got != null && !got.isEmpty()) return got;
                throw new DeviceFailure("INVALID_ANSWER", "the service has not given a " + member);
            }
            if (answer != null && answer.status == 400) throw new DeviceFailure("INVALID_PARAMETERS", answer.text);
            if (answer != null) device.log("info", "not enrolled: the service answered " + answer.status);
            long least = answer == null ? 0 : answer.status == 403 ? LONGEST_PAUSE : answer.retryAfter;
            long wait = Math.max(least, pause);
            Thread.sleep(wait + ThreadLocalRandom.current().nextLong(wait / 2 + 1));
        }
    }

    private HttpURLConnection open(String path, SSLSocketFactory factory) throws IOException {
        HttpURLConnection connection = (HttpURLConnection) new URL(url + path).openConnection();
        if (factory != null && connection instanceof HttpsURLConnection) {
            ((HttpsURLConnection) connection).setSSLSocketFactory(factory);
        }
        connection.setConnectTimeout(TIMEOUT);
        connection.setReadTimeout(TIMEOUT);
        connection.setInstanceFollowRedirects(false);
        return connection;
    }

    /** What the service has answered. */
    private static final class Answer {
        final int status;
        /** Milliseconds. */
        final long retryAfter;
        final String text;
        final Map<String, Object> body;

        Answer(HttpURLConnection connection, String sent) throws IOException {
            try {
                connection.setDoOutput(true);
                connection.setRequestProperty("Content-Type", "application/json");
                try (OutputStream out = connection.getOutputStream()) {
                    out.write(sent.getBytes(StandardCharsets.UTF_8));
                }
                status = connection.getResponseCode();
                retryAfter = Math.min(1000L * Math.max(0, connection.getHeaderFieldInt("Retry-After", 0)), LONGEST_PAUSE);
                text = textOf(status < 400 ? connection.getInputStream() : connection.getErrorStream());
                body = Json.readObject(text);
            } finally {
                connection.disconnect();
            }
        }

        private static String textOf(InputStream in) throws IOException {
            if (in == null) return "";
            ByteArrayOutputStream all = new ByteArrayOutputStream();
            byte[] chunk = new byte[4096];
            for (int count = in.read(chunk); count >= 0; count = in.read(chunk)) {
                all.write(chunk, 0, count);
                if (all.size() > MOST_ANSWER_BYTES) throw new IOException("the answer has more than 64 KiB");
            }
            return new String(all.toByteArray(), StandardCharsets.UTF_8);
        }
    }
}
