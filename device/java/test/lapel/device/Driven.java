package lapel.device;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.security.KeyFactory;
import java.security.PrivateKey;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import javax.net.ssl.SSLSocketFactory;

/**
 * A device that a test drives: it calls what lines of JSON on its standard input say, and tells what happens on its
 * standard output. Its arguments are host, port, deviceId and file, and for TLS a CA, a certificate and a key.
 */
final class Driven implements Maker {
    private Device device;
    private Path software;

    private Driven() {}

    public static void main(String[] given) throws Exception {
        String credential = System.getenv("LAPEL_CREDENTIAL");
        SSLSocketFactory tls = given.length > 5
                ? Tls.trusting(text(given[4]), text(given[5]), key(text(given[6])))
                : given.length > 4 ? Tls.trusting(text(given[4])) : null;
        Transport transport = new SocketTransport(given[0], Integer.parseInt(given[1]), given[2], credential, tls);
        Driven driven = new Driven();
        driven.software = Paths.get(given[3] + ".apk");
        driven.device = new Device(new Options(given[2], Paths.get(given[3]), transport), driven);
        driven.device.report(Json.of("lang", "en"));
        driven.device.start();
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) driven.call(Json.readObject(line));
        driven.device.stop();
        driven.tell("stopped", true);
    }

    private static String text(String path) throws Exception {
        return new String(Files.readAllBytes(Paths.get(path)), StandardCharsets.UTF_8);
    }

    private static PrivateKey key(String pem) throws Exception {
        byte[] der = Base64.getDecoder().decode(pem.replaceAll("-----[A-Z ]+-----|\\s", ""));
        return KeyFactory.getInstance("EC").generatePrivate(new PKCS8EncodedKeySpec(der));
    }

    private void tell(String what, Object value) {
        byte[] line = (Json.write(Json.of(what, value)) + "\n").getBytes(StandardCharsets.UTF_8);
        synchronized (System.out) {
            System.out.write(line, 0, line.length);
            System.out.flush();
        }
    }

    private void call(Map<String, Object> line) throws Exception {
        Map<String, Object> data = Json.object(line.get("data"));
        String type = Json.text(line.get("type"));
        if ("request".equals(line.get("call"))) {
            try {
                tell("answer", device.request(type, data, 60_000));
            } catch (DeviceFailure failure) {
                tell("failure", failure.code());
            }
        } else {
            tell("event", device.event(type, data));
        }
    }

    @Override
    public Map<String, Object> onCommand(Command command) throws Exception {
        tell("begin", Json.of(
                "transactionId", command.transactionId(),
                "interrupted", command.isInterrupted(),
                "progress", command.progress()));
        if (!command.operation().equals("installSoftware")) return null;
        device.download(command, software);
        Map<String, Object> wanted = command.parameters();
        return Json.of("package", wanted.get("package"), "version", wanted.get("version"), "versionCode", 1);
    }

    @Override
    public void onNetworks(String kind, List<Object> list) {
        tell("networks", Json.of("kind", kind, "list", list));
    }

    @Override
    public void onConnection(boolean isConnected) {
        tell("connected", isConnected);
    }

    @Override
    public void onLog(String level, String text) {
        tell(level, text);
    }
}
