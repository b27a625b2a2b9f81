package lapel.device;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * Devices whose surroundings fail. Prints a line of JSON for each case: its title, and what is wrong, or null. Its
 * arguments are an empty folder, the file of a CA, and the port of a service with TLS that reads nothing behind the login.
 */
final class Faults {
    private static final String ISSUED_AT = "2026-11-20T09:29:00.000Z";
    private static final byte[] NEW_FILE = "a new file".getBytes(StandardCharsets.UTF_8);
    private final Path folder;
    private final Path ca;

    private Faults(Path folder, Path ca) {
        this.folder = folder;
        this.ca = ca;
    }

    private interface Case {
        void play() throws Exception;
    }

    public static void main(String[] given) throws Exception {
        Faults faults = new Faults(Paths.get(given[0]), Paths.get(given[1]));
        Map<String, Case> cases = new LinkedHashMap<>();
        cases.put("an Error of an operation fails its command, and the next one begins", faults::errorOfOperation);
        cases.put("an Error of the maker's other methods changes nothing", faults::errorOfMaker);
        cases.put("a transport that throws is a lost connection", faults::throwingTransport);
        cases.put("an Error in the thread of a connection is a lost connection", faults::errorInConnection);
        cases.put("a device that was stopped changes nothing in the file that another one has", faults::stopped);
        cases.put("a command that stops the device lets another one have the file", faults::stoppedByCommand);
        cases.put("firmware needs no signature, and software does", faults::firmware);
        cases.put("a download that has failed leaves no part behind", faults::failedDownload);
        cases.put("a certificate that is none, or is for another key, is not kept", faults::foreignCertificate);
        int port = Integer.parseInt(given[2]);
        cases.put("over TLS, a writer that waits for a deaf service ends with the silence", () -> faults.deaf(port));
        for (Map.Entry<String, Case> one : cases.entrySet()) {
            String fault = null;
            try {
                one.getValue().play();
            } catch (Exception | Error thrown) {
                fault = thrown.toString();
            }
            System.out.println(Json.write(Json.of("title", one.getKey(), "fault", fault)));
        }
        System.exit(0); // also when a case has left a thread that waits for ever
    }

    private static void equal(Object found, Object wanted) {
        if (!wanted.equals(found)) throw new IllegalStateException(found + ", expected: " + wanted);
    }

    /** A network in memory: what the device publishes, and how often it tried to connect. */
    private static final class Memories implements Transport {
        final BlockingQueue<Map<String, Object>> acks = new LinkedBlockingQueue<>();
        final BlockingQueue<Listener> attempts = new LinkedBlockingQueue<>();
        volatile Error fault;
        volatile Listener listener;

        @Override
        public void connect(Listener given) {
            attempts.add(given);
            fail();
            listener = given;
            given.connected(null);
        }

        private void fail() {
            Error thrown = fault;
            fault = null;
            if (thrown != null) throw thrown;
        }

        @Override
        public void subscribe(List<String> topics) {}

        @Override
        public void publish(String topic, byte[] payload, Runnable confirmed) {
            fail();
            if (topic.endsWith("/acks")) acks.add(Json.readObject(new String(payload, StandardCharsets.UTF_8)));
            confirmed.run();
        }

        @Override
        public void close() {}

        void command(long transactionId, String operation, Map<String, Object> parameters) {
            Map<String, Object> message = Json.of(
                    "transactionId", transactionId, "operation", operation, "parameters", parameters, "issuedAt", ISSUED_AT);
            byte[] payload = Json.write(message).getBytes(StandardCharsets.UTF_8);
            listener.message("devices/1/commands", payload, () -> {});
        }

        /** The code of the next answer, or its status. */
        String answer() throws InterruptedException {
            Map<String, Object> error = Json.object(acks.take().get("error"));
            return error == null ? "succeeded" : Json.text(error.get("code"));
        }
    }

    private Options options(String name, Transport transport) {
        return new Options("1", folder.resolve(name), transport);
    }

    private static Device started(Options options, Maker maker) throws Exception {
        Device device = new Device(options, maker);
        device.start();
        ((Memories) options.transport).attempts.take();
        device.awaitConnection();
        return device;
    }

    private void errorOfOperation() throws Exception {
        Memories network = new Memories();
        Device device = started(options("operation", network), command -> {
            if (command.transactionId() == 1) throw new NoClassDefFoundError("com/example/Codec");
            return null;
        });
        network.command(1, "setLanguage", Json.of());
        network.command(2, "setLanguage", Json.of());
        equal(network.answer(), "INTERNAL");
        equal(network.answer(), "succeeded");
        device.stop();
    }

    private void errorOfMaker() throws Exception {
        Memories network = new Memories();
        Device device = started(options("maker", network), new Maker() {
            @Override
            public Map<String, Object> onCommand(Command command) {
                return null;
            }

            @Override
            public void onNetworks(String kind, List<Object> list) {
                throw new UnsatisfiedLinkError("modem");
            }

            @Override
            public void onConnection(boolean isConnected) {
                throw new UnsatisfiedLinkError("led");
            }

            @Override
            public void onLog(String level, String text) {
                throw new UnsatisfiedLinkError("log");
            }
        });
        network.command(1, "setWifi", Json.of("networks", new ArrayList<>(), "revertAfter", 60));
        network.attempts.take(); // it has left the former connection
        equal(network.answer(), "succeeded");
        network.command(2, "setLanguage", Json.of());
        equal(network.answer(), "succeeded");
        device.stop();
    }

    private void throwingTransport() throws Exception {
        Memories network = new Memories();
        network.fault = new OutOfMemoryError("unable to create native thread");
        Device device = started(options("transport", network), command -> null);
        network.fault = new NoClassDefFoundError("org/eclipse/paho");
        device.report(Json.of("lang", "ja"));
        network.attempts.take();
        network.attempts.take();
        device.awaitConnection();
        device.stop();
    }

    private void errorInConnection() throws Exception {
        try (ServerSocket server = new ServerSocket(0, 8, InetAddress.getLoopbackAddress())) {
            SocketTransport transport = new SocketTransport("127.0.0.1", server.getLocalPort(), "1", "first", null);
            transport.tryNext("second", null, isGood -> {
                throw new OutOfMemoryError();
            });
            Device device = new Device(options("connection", transport), command -> null);
            device.start();
            try (Socket socket = server.accept()) {
                socket.getOutputStream().write(new byte[] {0x20, 2, 0, 0});
                while (socket.getInputStream().read() >= 0) continue;
            } catch (IOException cut) {
                // The device has ended it.
            }
            server.accept().close();
            device.stop();
        }
    }

    private static String faultOfEvent(Device device) {
        try {
            device.event("custom.sos", Json.of());
            return "none";
        } catch (IOException fault) {
            return fault.getMessage();
        }
    }

    private void stopped() throws Exception {
        Device first = new Device(options("stopped", new Memories()), command -> null);
        first.set("lang", "en");
        first.stop();
        first.stop();
        Device second = new Device(options("stopped", new Memories()), command -> null);
        second.set("lang", "ja");
        for (int i = 0; i < 3; i++) equal(faultOfEvent(first), "the device was stopped");
        second.set("volume", "7");
        second.stop();
        Device third = new Device(options("stopped", new Memories()), command -> null);
        equal(third.setting("lang"), "ja");
        equal(third.setting("volume"), "7");
        third.stop();
    }

    private void stoppedByCommand() throws Exception {
        Memories network = new Memories();
        BlockingQueue<Boolean> ended = new LinkedBlockingQueue<>();
        Device[] device = new Device[1];
        device[0] = started(options("by-command", network), command -> {
            try {
                device[0].stop();
            } finally {
                ended.add(true);
            }
            return null;
        });
        network.command(1, "restart", Json.of());
        ended.take();
        new Device(options("by-command", new Memories()), command -> null).stop();
    }

    /** The codes of two downloads, the second one of software, from a server that gives always the same file. */
    private List<String> downloads(String name, byte[] key, byte[] wanted) throws Exception {
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 8);
        server.createContext("/", exchange -> {
            exchange.sendResponseHeaders(200, NEW_FILE.length);
            exchange.getResponseBody().write(NEW_FILE);
            exchange.close();
        });
        server.start();
        Memories network = new Memories();
        Options options = options(name, network);
        if (key != null) options.trust(key);
        Device[] device = new Device[1];
        device[0] = started(options, command -> {
            device[0].download(command, folder.resolve(name + ".file"));
            return null;
        });
        StringBuilder sha256 = new StringBuilder();
        for (byte one : MessageDigest.getInstance("SHA-256").digest(wanted)) sha256.append(String.format("%02x", one));
        String url = "http://127.0.0.1:" + server.getAddress().getPort() + "/";
        Map<String, Object> parameters = Json.of("url", url, "size", wanted.length, "sha256", sha256.toString());
        network.command(1, "updateFirmware", parameters);
        network.command(2, "installSoftware", parameters);
        List<String> codes = new ArrayList<>();
        codes.add(network.answer());
        codes.add(network.answer());
        device[0].stop();
        server.stop(0);
        return codes;
    }

    private void foreignCertificate() throws Exception {
        String[] certificates = {"not a certificate", "", new String(Files.readAllBytes(ca), StandardCharsets.UTF_8)};
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 8);
        int[] next = {0};
        server.createContext("/", exchange -> {
            byte[] body = Json.write(Json.of("certificate", certificates[next[0]++])).getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(201, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });
        server.start();
        Device device = new Device(options("certificate", new Memories()), command -> null);
        String url = "http://127.0.0.1:" + server.getAddress().getPort();
        KeyPair keys = KeyPairGenerator.getInstance("EC").generateKeyPair();
        for (int i = 0; i < certificates.length; i++) {
            String code = "none";
            try {
                new Enrolment(device, url, null).certificate("code", keys);
            } catch (DeviceFailure failure) {
                code = failure.code();
            }
            equal(code, "INVALID_ANSWER");
        }
        equal(Json.object(device.setting("enrolment")).get("certificate") == null, true);
        device.stop();
        server.stop(0);
    }

    /** The service takes the login, and then reads nothing any more. */
    private void deaf(int port) throws Exception {
        String trusted = new String(Files.readAllBytes(ca), StandardCharsets.UTF_8);
        SocketTransport transport = new SocketTransport("127.0.0.1", port, "1", "x", Tls.trusting(trusted), 8_000); // a busy machine is slow
        BlockingQueue<String> told = new LinkedBlockingQueue<>();
        transport.connect(new Transport.Listener() {
            @Override
            public void connected(String over) {
                told.add("connected");
            }

            @Override
            public void message(String topic, byte[] payload, Runnable accept) {}

            @Override
            public void lost(String reason) {
                told.add("lost: " + reason);
            }
        });
        equal(told.take(), "connected");
        byte[] payload = new byte[64 * 1024];
        Thread writer = new Thread(() -> {
            while (told.isEmpty()) transport.publish("devices/1/events", payload, () -> {});
        });
        writer.setDaemon(true);
        writer.start();
        String next = told.poll(90, TimeUnit.SECONDS);
        equal(String.valueOf(next).startsWith("lost"), true);
    }

    private void firmware() throws Exception {
        equal(String.join(" ", downloads("firmware", new byte[32], NEW_FILE)), "succeeded SIGNATURE_REJECTED");
        equal(new String(Files.readAllBytes(folder.resolve("firmware.file")), StandardCharsets.UTF_8), "a new file");
    }

    private void failedDownload() throws Exception {
        byte[] other = "an old fi.".getBytes(StandardCharsets.UTF_8);
        equal(String.join(" ", downloads("failed", null, other)), "DOWNLOAD_FAILED DOWNLOAD_FAILED");
        equal(Files.exists(folder.resolve("failed.file.part")), false);
        equal(Files.exists(folder.resolve("failed.file")), false);
    }
}
