package lapel.device;

import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.SSLSocketFactory;

/**
 * A {@link Transport} that speaks MQTT 3.1.1 over a socket of Java, without any library. Over TLS it checks that the
 * certificate of the service is for the name of its host.
 */
public final class SocketTransport implements Transport {
    private static final int CONNECT_TIMEOUT = 30_000;
    private static final int KEEP_ALIVE_SECONDS = 60;
    /** Without a packet for so long it asks; without one for as long again, the connection is dead. */
    private static final int SILENCE = 1000 * KEEP_ALIVE_SECONDS / 2;
    private static final long WRITE_PATIENCE = 2_000;
    private static final int WRONG_CREDENTIAL = 4;
    private static final int MOST_IDS = 65_535;
    private static final String[] REFUSALS = {
        "", "not MQTT 3.1.1", "the client id is not the deviceId", "the service cannot check the login now",
        "the deviceId is not registered, or the credential is wrong", "the device may not connect"
    };

    private final String host;
    private final int port;
    private final String deviceId;
    private final int silence;
    private Login present;
    /** Another credential or certificate, until a login has shown whether it is good. */
    private Login next;
    private Connection connection;

    /** What a login shows. */
    private static final class Login {
        final String credential;
        final SSLSocketFactory tls;
        final Decision decided;

        Login(String credential, SSLSocketFactory tls, Decision decided) {
            this.credential = credential;
            this.tls = tls;
            this.decided = decided;
        }
    }

    /** Is told whether another credential or certificate is good, by the thread of the connection. */
    public interface Decision {
        /** True when a login with it has succeeded; false when the service has refused it. */
        void decided(boolean isGood);
    }

    /**
     * @param credential null when the device logs in with a certificate
     * @param tls the trust, and perhaps the certificate, for TLS; null without TLS
     */
    public SocketTransport(String host, int port, String deviceId, String credential, SSLSocketFactory tls) {
        this(host, port, deviceId, credential, tls, SILENCE);
    }

    SocketTransport(String host, int port, String deviceId, String credential, SSLSocketFactory tls, int silence) {
        this.silence = silence;
        this.host = host;
        this.port = port;
        this.deviceId = deviceId;
        present = new Login(credential, tls, isGood -> {});
    }

    /**
     * Logs in with another credential or certificate from the next attempt on ({@link Device#reconnect}). As soon as it has
     * succeeded, the former one is forgotten, because the service does not take it any more; when it is refused with 4, the
     * former one is used again.
     */
    public synchronized void tryNext(String credential, SSLSocketFactory tls, Decision decided) {
        next = new Login(credential, tls, decided);
    }

    private synchronized boolean keep(Login good) {
        boolean isNext = next == good;
        if (isNext) {
            present = good;
            next = null;
        }
        return isNext;
    }

    private synchronized boolean drop(Login refused) {
        boolean isNext = next == refused;
        if (isNext) next = null;
        return isNext;
    }

    @Override
    public synchronized void connect(Listener listener) {
        close();
        connection = new Connection(listener, next == null ? present : next);
        connection.start();
    }

    @Override
    public synchronized void subscribe(List<String> topics) {
        if (connection != null) connection.subscribe(topics);
    }

    @Override
    public synchronized void publish(String topic, byte[] payload, Runnable confirmed) {
        if (connection != null) connection.publish(topic, payload, confirmed);
    }

    @Override
    public synchronized void close() {
        if (connection != null) connection.end();
        connection = null;
    }

    /** One connection, with a thread that reads. */
    private final class Connection extends Thread {
        private final Listener listener;
        private final Login login;
        private final Map<Integer, Runnable> unconfirmed = new HashMap<>();
        private final ReentrantLock writing = new ReentrantLock();
        private final Socket plain = new Socket();
        private volatile Socket socket = plain;
        private volatile boolean isEnded;
        private volatile boolean isOpen;
        private int lastId;

        Connection(Listener listener, Login login) {
            super("lapel-device-connection");
            this.listener = listener;
            this.login = login;
            setDaemon(true);
        }

        @Override
        public void run() {
            String reason = "the service has ended the connection";
            try {
                open();
                DataInputStream in = new DataInputStream(new BufferedInputStream(socket.getInputStream()));
                login(in);
                while (take(in)) continue;
            } catch (IOException failure) {
                reason = failure.getMessage() == null ? failure.toString() : failure.getMessage();
            } catch (RuntimeException | Error failure) { // of a TLS provider, or no memory is left
                reason = failure.toString();
            }
            shut();
            if (!isEnded) listener.lost(reason);
        }

        private void open() throws IOException {
            plain.setTcpNoDelay(true);
            plain.connect(new InetSocketAddress(host, port), CONNECT_TIMEOUT);
            plain.setSoTimeout(silence);
            if (login.tls == null) return;
            SSLSocket secured = (SSLSocket) login.tls.createSocket(plain, host, port, true);
            SSLParameters parameters = secured.getSSLParameters();
            parameters.setEndpointIdentificationAlgorithm("HTTPS");
            secured.setSSLParameters(parameters);
            socket = secured;
            secured.startHandshake();
        }

        private void login(DataInputStream in) throws IOException {
            write(Packets.connect(deviceId, login.credential, KEEP_ALIVE_SECONDS));
            Packets answer = Packets.read(in.readUnsignedByte(), in);
            if (answer.type != Packets.CONNACK) throw new IOException("the service has not answered the login");
            int code = answer.number(0) & 255;
            if (code != 0) {
                if (code == WRONG_CREDENTIAL && drop(login)) login.decided.decided(false);
                throw new IOException("the login was refused with " + code + ": " + REFUSALS[Math.min(code, REFUSALS.length - 1)]);
            }
            isOpen = true;
            if (keep(login)) login.decided.decided(true);
            listener.connected(null);
        }

        /** Takes the next packet; false at the end. */
        private boolean take(DataInputStream in) throws IOException {
            int first;
            try {
                first = in.read();
            } catch (SocketTimeoutException silence) {
                ping();
                first = in.read(); // as long again, and then it throws
            }
            if (first < 0) return false;
            Packets packet = Packets.read(first, in);
            if (packet.type == Packets.PUBLISH) message(packet);
            else if (packet.type == Packets.PUBACK) confirmed(packet.number(0));
            else if (packet.type == Packets.SUBACK) subscribed(packet);
            else if (packet.type != Packets.PINGRESP) throw new IOException("an unexpected packet");
            return true;
        }

        /** A writer that waits for the network must not make this thread wait as well. */
        private void ping() throws IOException {
            if (!writing.tryLock()) return;
            try {
                write(Packets.PINGREQ);
            } finally {
                writing.unlock();
            }
        }

        private void message(Packets packet) throws IOException {
            int qos = packet.flags >> 1 & 3;
            int start = 2 + packet.number(0);
            int id = qos == 0 ? 0 : packet.number(start);
            String topic = new String(packet.body, 2, start - 2, StandardCharsets.UTF_8);
            byte[] payload = Arrays.copyOfRange(packet.body, qos == 0 ? start : start + 2, packet.body.length);
            listener.message(topic, payload, () -> {
                if (qos == 1) send(Packets.puback(id));
            });
        }

        private void confirmed(int id) {
            Runnable confirmed;
            synchronized (unconfirmed) {
                confirmed = unconfirmed.remove(id);
            }
            if (confirmed != null) confirmed.run();
        }

        private void subscribed(Packets packet) throws IOException {
            for (int i = 2; i < packet.body.length; i++) {
                if (packet.body[i] < 0) throw new IOException("a subscription was refused");
            }
        }

        void subscribe(List<String> topics) {
            send(Packets.subscribe(nextId(), topics));
        }

        void publish(String topic, byte[] payload, Runnable confirmed) {
            int id = nextId();
            synchronized (unconfirmed) {
                unconfirmed.put(id, confirmed);
            }
            send(Packets.publish(id, topic, payload));
        }

        /** One that no message has that is on its way; a device has far fewer of them. */
        private int nextId() {
            synchronized (unconfirmed) {
                do {
                    lastId = lastId % MOST_IDS + 1;
                } while (unconfirmed.containsKey(lastId));
                return lastId;
            }
        }

        private void send(byte[] packet) {
            if (!isOpen) return;
            try {
                write(packet);
            } catch (IOException broken) {
                shut(); // the thread that reads tells it
            }
        }

        private void write(byte[] packet) throws IOException {
            writing.lock();
            try {
                OutputStream out = socket.getOutputStream();
                out.write(packet);
                out.flush();
            } finally {
                writing.unlock();
            }
        }

        /** With a DISCONNECT, if the network takes it: what was written before it arrives. */
        void end() {
            isEnded = true;
            boolean isWritten = false;
            try {
                if (isOpen && writing.tryLock(WRITE_PATIENCE, TimeUnit.MILLISECONDS)) {
                    try {
                        write(Packets.DISCONNECT);
                        isWritten = true;
                    } finally {
                        writing.unlock();
                    }
                }
                // The service closes the connection now. One that does not is closed here.
                if (isWritten) join(WRITE_PATIENCE);
            } catch (IOException broken) {
                // There is nothing to end.
            } catch (InterruptedException hurry) {
                Thread.currentThread().interrupt();
            }
            shut();
        }

        private void shut() {
            try {
                plain.close(); // first: TLS waits for a writer that waits for the network
                socket.close();
            } catch (IOException closed) {
                // It is closed all the same.
            }
        }
    }
}
