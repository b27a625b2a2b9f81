package lapel.device;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.util.Map;

/**
 * A device that enrols with the code of its batch, for a certificate or a credential, and connects. Each line on its
 * standard input renews its certificate, or tries a credential that is wrong. Its arguments are the address of the API, host, port, deviceId, file and code, and
 * for a certificate the kind of key and a CA.
 */
final class Enrolling {
    private Enrolling() {}

    private static void tell(String what, Object value) {
        System.out.println(Json.write(Json.of(what, value)));
    }

    public static void main(String[] given) throws Exception {
        String ca = given.length > 7 ? new String(Files.readAllBytes(Paths.get(given[7])), StandardCharsets.UTF_8) : null;
        Enrolment[] enrolment = new Enrolment[1];
        Path file = Paths.get(given[4]);
        SocketTransport transport = new SocketTransport(given[1], Integer.parseInt(given[2]), given[3], null, null);
        Maker maker = new Maker() {
            @Override
            public Map<String, Object> onCommand(Command command) {
                return null;
            }

            @Override
            public void onConnection(boolean isConnected) {
                tell("connected", isConnected);
                try {
                    if (isConnected) enrolment[0].loggedIn();
                } catch (java.io.IOException failure) {
                    tell("error", failure.toString());
                }
            }

            @Override
            public void onLog(String level, String text) {
                tell(level, text);
            }
        };
        Device device = new Device(new Options(given[3], file, transport), maker);
        enrolment[0] = new Enrolment(device, given[0], ca == null ? null : Tls.trusting(ca));
        String certificate = null;
        KeyPair keys = null;
        if (ca == null) transport.tryNext(enrolment[0].credential(given[5]), null, isGood -> {});
        else {
            keys = KeyPairGenerator.getInstance(given[6]).generateKeyPair();
            certificate = enrolment[0].certificate(given[5], keys);
            tell("certificate", certificate);
            tell("isDue", Enrolment.isDue(certificate, System.currentTimeMillis()));
            transport.tryNext(null, Tls.trusting(ca, certificate, keys.getPrivate()), isGood -> {});
        }
        device.start();
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        while (in.readLine() != null) {
            if (ca == null) {
                transport.tryNext("another credential", null, isGood -> tell("isGood", isGood));
                device.reconnect();
                continue;
            }
            KeyPair others = KeyPairGenerator.getInstance(given[6]).generateKeyPair();
            String next = enrolment[0].renewed(others, Tls.trusting(ca, certificate, keys.getPrivate()));
            tell("certificate", next);
            transport.tryNext(null, Tls.trusting(ca, next, others.getPrivate()), isGood -> tell("isGood", isGood));
            device.reconnect();
            certificate = next;
            keys = others;
        }
        tell("setting", device.setting("enrolment"));
        device.stop();
    }
}
