package lapel.device;

import java.util.List;

/**
 * The connection to the service, as few methods as it needs, so that any MQTT client can be behind it.
 * {@link SocketTransport} is one without a library.
 *
 * <p>The device calls the methods from one thread. They do not wait for the network for long: what comes of them is told to
 * the {@link Listener}, from any thread. One connection is there at a time. The client connects as the rules
 * {@code login} and {@code keep-alive} of docs/devices.md say: deviceId as client id and user name, the credential as
 * password, clean session false, a keep-alive interval of 60 seconds. It must not connect again by itself, must not
 * repeat messages of an earlier connection, and must not send a PUBACK before {@code accept}: the library does all this.
 */
public interface Transport {
    /**
     * Begins one attempt. The listener is told either {@link Listener#connected} and later {@link Listener#lost}, or
     * {@code lost} alone.
     */
    void connect(Listener listener);

    /** Subscribes to all topics in one packet, with QoS 1. When one of them is refused, the connection is lost. */
    void subscribe(List<String> topics);

    /**
     * Publishes with QoS 1. When there is no connection, nothing happens.
     *
     * @param confirmed is run when the PUBACK has come
     */
    void publish(String topic, byte[] payload, Runnable confirmed);

    /** Ends the connection, or the attempt at one. The listener need not be told. */
    void close();

    /** What the device is told. Each method returns soon. */
    interface Listener {
        /**
         * The CONNACK has come, with code 0.
         *
         * @param over the network that the connection goes over: {@code networks} for Wi-Fi, {@code apns} for a mobile one,
         *     null when nobody knows. A list of networks on trial counts as reached only over its kind, or over null
         */
        void connected(String over);

        /**
         * A message has come. Messages are told in the order in which they came.
         *
         * @param accept sends the PUBACK; the device runs it from its own thread, in the order of the messages
         */
        void message(String topic, byte[] payload, Runnable accept);

        /** The attempt has failed, or the connection has ended; the reason is for people. */
        void lost(String reason);
    }
}
