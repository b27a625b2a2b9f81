package lapel.device;

import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** One connection after another: attempts, pauses, and what comes in. All but the listener is for the thread of the device. */
final class Link {
    /** What the connection tells the core. */
    interface Inputs {
        void connected(String over);

        void disconnected();

        void received(String topic, String text);

        void confirmed(String topic, String token);

        boolean isInTrial();

        void log(String level, String text);
    }

    private static final String[] TOPICS = {"commands", "responses", "errors"};
    private final Transport transport;
    private final String prefix;
    private final ScheduledThreadPoolExecutor thread;
    private final Inputs inputs;
    private final Pauses pauses = new Pauses();
    private final Queue<Runnable> accepts = new ArrayDeque<>();
    /** What an earlier attempt still tells does not count. */
    private int attempt;
    private boolean isOpen;
    private boolean isStopped;
    /** The next attempt; null before the first one. */
    private ScheduledFuture<?> waiting;

    Link(Transport transport, String deviceId, ScheduledThreadPoolExecutor thread, Inputs inputs) {
        this.transport = transport;
        prefix = "devices/" + deviceId + "/";
        this.thread = thread;
        this.inputs = inputs;
        thread.setRemoveOnCancelPolicy(true);
    }

    void connect() {
        if (isStopped) return;
        int number = ++attempt;
        use(() -> transport.connect(listener(number)));
    }

    /** A transport that fails has lost its connection: otherwise the device would never come back. */
    private void use(Runnable call) {
        try {
            call.run();
        } catch (RuntimeException | Error fault) {
            lost("the transport failed: " + fault);
        }
    }

    private Transport.Listener listener(int number) {
        return new Transport.Listener() {
            @Override
            public void connected(String over) {
                later(number, () -> opened(over));
            }

            @Override
            public void message(String topic, byte[] payload, Runnable accept) {
                later(number, () -> received(topic, payload, accept));
            }

            @Override
            public void lost(String reason) {
                later(number, () -> Link.this.lost(reason));
            }
        };
    }

    private void lost(String reason) {
        inputs.log("info", "no connection: " + reason);
        ended();
    }

    private void later(int number, Runnable input) {
        try {
            thread.execute(() -> {
                if (number == attempt) input.run();
            });
        } catch (RejectedExecutionException stopped) {
            // The device has stopped.
        }
    }

    private void opened(String over) {
        isOpen = true;
        pauses.reset();
        inputs.connected(over);
    }

    private void received(String topic, byte[] payload, Runnable accept) {
        accepts.add(accept);
        String kind = topic.startsWith(prefix) ? topic.substring(prefix.length()) : topic;
        inputs.received(kind, new String(payload, StandardCharsets.UTF_8));
    }

    private void ended() {
        close();
        inputs.disconnected();
        if (isStopped) return;
        // A second attempt that waits would end the connection of the first one.
        if (waiting != null) waiting.cancel(false);
        waiting = thread.schedule(this::connect, pauses.next(inputs.isInTrial()), TimeUnit.MILLISECONDS);
    }

    private void close() {
        attempt++;
        isOpen = false;
        accepts.clear();
        try {
            transport.close();
        } catch (RuntimeException | Error fault) {
            inputs.log("error", "the transport could not be closed: " + fault);
        }
    }

    /** Ends the connection, and connects again. */
    void leave() {
        pauses.reset();
        ended();
    }

    void stop() {
        isStopped = true;
        close();
        inputs.disconnected();
    }

    void accept() {
        Runnable accept = accepts.poll();
        if (accept != null) use(accept);
    }

    void subscribe() {
        List<String> topics = new ArrayList<>();
        for (String topic : TOPICS) topics.add(prefix + topic);
        if (isOpen) use(() -> transport.subscribe(topics));
    }

    void publish(String topic, Map<String, Object> message, String token) {
        if (!isOpen) return;
        int number = attempt;
        byte[] payload = Json.write(message).getBytes(StandardCharsets.UTF_8);
        Runnable confirmed = () -> later(number, () -> inputs.confirmed(topic, token));
        use(() -> transport.publish(prefix + topic, payload, confirmed));
    }
}
