package lapel.device;

import java.util.List;
import java.util.concurrent.ScheduledThreadPoolExecutor;

/**
 * Loses a connection, and leaves while the next attempt waits, as when a list on trial is given up. Prints how many
 * attempts wait then.
 */
final class Attempts {
    private Attempts() {}

    public static void main(String[] given) throws Exception {
        ScheduledThreadPoolExecutor thread = new ScheduledThreadPoolExecutor(1);
        Transport nowhere = new Transport() {
            @Override
            public void connect(Listener listener) {
                listener.lost("there is no network");
            }

            @Override
            public void subscribe(List<String> topics) {}

            @Override
            public void publish(String topic, byte[] payload, Runnable confirmed) {}

            @Override
            public void close() {}
        };
        Link.Inputs inputs = new Link.Inputs() {
            @Override
            public void connected(String over) {}

            @Override
            public void disconnected() {}

            @Override
            public void received(String topic, String text) {}

            @Override
            public void confirmed(String topic, String token) {}

            @Override
            public boolean isInTrial() {
                return false;
            }

            @Override
            public void log(String level, String text) {}
        };
        Link link = new Link(nowhere, "359896000000008", thread, inputs);
        thread.submit(link::connect).get();
        thread.submit(() -> {}).get(); // the loss has been told
        thread.submit(link::leave).get();
        System.out.println(thread.getQueue().size());
        thread.shutdownNow();
    }
}
