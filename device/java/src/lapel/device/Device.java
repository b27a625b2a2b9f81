package lapel.device;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * A device of Lapel. It keeps each rule of "The duties of a device" (docs/devices.md): logins and pauses, subscriptions,
 * PUBACKs, the order of commands and that each is carried out once, stored answers and events, requests, lists of networks
 * on trial, and the status.
 *
 * <p>Objects are maps and lists as {@link Json} makes them; maps with numbers, texts and lists of Java are taken as well,
 * and copied. All methods may be called by any thread. Two threads run while the device is started: one for the
 * connection, one for {@link Maker#onCommand}.
 */
public final class Device {
    private static final long PATIENCE_TO_STOP = 5_000;
    private final Options options;
    private final Maker maker;
    private final FileDisk disk;
    /** Guards the core. */
    private final Object lock = new Object();
    private final Core core;
    private final Link link;
    private final ScheduledThreadPoolExecutor thread;
    private final ExecutorService work;
    /** What the core wants done before the device is started; null afterwards. */
    private List<Effect> early = new ArrayList<>();
    private final Map<String, Answer> asked = new HashMap<>();
    private volatile boolean isStopped;

    /** The answer to a request, once it is there. */
    private static final class Answer {
        boolean isThere;
        Map<String, Object> data;
        DeviceFailure error;
    }

    /**
     * Opens the file of the device, and reads it.
     *
     * @throws IOException when the file cannot be read, is not one of this library, or is in use by another process
     */
    public Device(Options options, Maker maker) throws IOException {
        this.options = options;
        this.maker = maker;
        disk = new FileDisk(options.file);
        thread = new ScheduledThreadPoolExecutor(1, task -> new Thread(task, "lapel-device")) {
            @Override
            protected void afterExecute(Runnable task, Throwable thrown) {
                super.afterExecute(task, thrown);
                tellFaultOf((Future<?>) task);
            }
        };
        work = Executors.newSingleThreadExecutor(task -> new Thread(task, "lapel-device-command"));
        Ground ground = new Ground(
                disk, options.bounds, options.clock, () -> UUID.randomUUID().toString(), () -> UUID.randomUUID().toString(), this::take);
        core = new Core(ground, options.lists);
        link = new Link(options.transport, options.deviceId, thread, inputs());
        try {
            core.start();
        } catch (IOException failure) {
            disk.close();
            throw failure;
        }
    }

    /** The thread goes on after a fault, which nobody would hear of otherwise. */
    private void tellFaultOf(Future<?> task) {
        if (!task.isDone() || task.isCancelled()) return;
        try {
            task.get();
        } catch (ExecutionException fault) {
            log("error", "a fault of the library: " + fault.getCause());
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
    }

    /** Connects, and goes on doing so until {@link #stop}. A device starts once. */
    public void start() {
        synchronized (lock) {
            if (early == null) throw new IllegalStateException("the device was started before");
            List<Effect> effects = early;
            early = null;
            for (Effect effect : effects) take(effect);
        }
        later(link::connect, 0);
    }

    /**
     * Ends the connection, and returns when the file is closed. A command that the maker carries out now is interrupted
     * ({@link Thread#interrupt}), and comes again after the next start, as one that was interrupted. Afterwards nothing is
     * stored any more.
     */
    public void stop() throws IOException, InterruptedException {
        isStopped = true;
        CountDownLatch hasEnded = new CountDownLatch(1);
        later(() -> {
            link.stop();
            hasEnded.countDown();
        }, 0);
        try {
            // In Java 8 a shutdown forgets the tasks that have not begun.
            if (!thread.isShutdown()) hasEnded.await(PATIENCE_TO_STOP, TimeUnit.MILLISECONDS);
            thread.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
            thread.shutdown();
            work.shutdownNow();
            thread.awaitTermination(PATIENCE_TO_STOP, TimeUnit.MILLISECONDS);
            work.awaitTermination(PATIENCE_TO_STOP, TimeUnit.MILLISECONDS);
        } finally {
            // Also when a command stops the device, whose thread is interrupted here.
            synchronized (lock) {
                lock.notifyAll();
                disk.close();
            }
        }
    }

    private Link.Inputs inputs() {
        return new Link.Inputs() {
            @Override
            public void connected(String over) {
                synchronized (lock) {
                    core.connected(over);
                    lock.notifyAll();
                }
                call(() -> maker.onConnection(true));
            }

            @Override
            public void disconnected() {
                boolean wasConnected;
                synchronized (lock) {
                    wasConnected = core.isConnected();
                    core.disconnected();
                }
                if (wasConnected) call(() -> maker.onConnection(false));
            }

            @Override
            public void received(String topic, String text) {
                synchronized (lock) {
                    core.received(topic, text);
                }
            }

            @Override
            public void confirmed(String topic, String token) {
                synchronized (lock) {
                    core.confirmed(topic, token);
                }
            }

            @Override
            public boolean isInTrial() {
                synchronized (lock) {
                    return core.isInTrial();
                }
            }

            @Override
            public void log(String level, String text) {
                Device.this.log(level, text);
            }
        };
    }

    /** Called by the core, with the lock: the effects are done by the thread of the connection, in their order. */
    private void take(Effect effect) {
        if (early != null) early.add(effect);
        else later(() -> perform(effect), 0);
    }

    private void later(Runnable task, long milliseconds) {
        try {
            thread.schedule(task, milliseconds, TimeUnit.MILLISECONDS);
        } catch (RejectedExecutionException stopped) {
            // What a device does after its end is nothing.
        }
    }

    private void perform(Effect effect) {
        switch (effect.kind) {
            case SUBSCRIBE:
                link.subscribe();
                break;
            case PUBLISH:
                link.publish(effect.name, effect.message, effect.token);
                break;
            case ACCEPT:
                link.accept();
                break;
            case BEGIN:
                if (!work.isShutdown()) work.execute(() -> carryOut(effect.command));
                break;
            case ANSWERED:
                answered(effect);
                break;
            case LEAVE:
                call(() -> maker.onConnection(false));
                link.leave();
                break;
            case NETWORKS:
                call(() -> maker.onNetworks(effect.name, effect.list));
                break;
            case LOG:
                log(effect.name, effect.text);
                break;
            default:
                later(this::wake, Math.max(0, effect.at - options.clock.monotonic()));
        }
    }

    void log(String level, String text) {
        try {
            maker.onLog(level, text);
        } catch (RuntimeException | Error ofTheMaker) {
            // There is no other place to tell it.
        }
    }

    private void call(Runnable ofTheMaker) {
        try {
            ofTheMaker.run();
        } catch (RuntimeException | Error failure) { // an Error is a class that is missing, as on another Android
            log("error", "the maker's method failed: " + failure);
        }
    }

    private void carryOut(Command command) {
        Map<String, Object> result = null;
        DeviceFailure failure = null;
        command.storesIn(value -> {
            Object copy = copyOf(value);
            synchronized (lock) {
                core.progress(command.id(), copy);
            }
        });
        try {
            result = objectOf(maker.onCommand(command));
        } catch (Throwable thrown) { // with a command that never ends, none would begin any more
            failure = DeviceFailure.of(thrown);
        }
        if (isStopped) return; // it comes again after the next start
        synchronized (lock) {
            core.finished(command.id(), result, failure);
        }
    }

    /** Looks whether something is due. Needed only where timers do not run while the device sleeps, as on Android. */
    public void wake() {
        synchronized (lock) {
            core.passed();
        }
    }

    /**
     * Tells parts of the status, as schemas/mqtt/status.json has it. They are merged into what was told before, sent now if
     * they have changed, and at each login. They are not on the disk: tell them after each start.
     *
     * @throws IllegalArgumentException when it is not JSON
     */
    public void report(Map<String, Object> status) {
        Map<String, Object> parts = objectOf(status);
        synchronized (lock) {
            core.report(parts);
        }
    }

    /** As {@link #event(String, Map, Importance)}, with the importance {@code NORMAL}. */
    public String event(String type, Map<String, Object> data) throws IOException {
        return event(type, data, Importance.NORMAL);
    }

    /**
     * Tells an event. It is on the disk when this method returns, and is sent until the service has it. When the store is
     * full, the oldest of the lowest importance goes, and the service is told how many went with
     * {@code custom.eventsDropped}.
     *
     * @return its eventId
     * @throws IllegalArgumentException when the service would refuse it: see schemas/mqtt/event.json
     * @throws IOException when the disk fails; then the event is not told
     */
    public String event(String type, Map<String, Object> data, Importance importance) throws IOException {
        Map<String, Object> copy = objectOf(data == null ? Json.of() : data);
        synchronized (lock) {
            return core.event(type, copy, importance);
        }
    }

    /**
     * Asks the service, such as for {@code fileUploadUrl}, and waits for the answer; the request is sent again at each login
     * in the meantime.
     *
     * @return the data of the answer
     * @throws DeviceFailure with the code of the answer, such as {@code NOT_ACTIVATED}; with {@code NO_ANSWER} when none came
     *     in time, and with {@code BUSY} when too many requests wait
     */
    public Map<String, Object> request(String type, Map<String, Object> data, long milliseconds)
            throws DeviceFailure, InterruptedException {
        Map<String, Object> copy = objectOf(data);
        long deadline = options.clock.monotonic() + milliseconds;
        synchronized (lock) {
            String id = core.request(type, copy);
            Answer answer = new Answer();
            asked.put(id, answer);
            try {
                for (long rest = milliseconds; !answer.isThere && !isStopped && rest > 0; ) {
                    lock.wait(rest);
                    rest = deadline - options.clock.monotonic();
                }
            } finally {
                asked.remove(id);
                core.forgetRequest(id);
            }
            if (!answer.isThere) throw new DeviceFailure("NO_ANSWER", "the service has not answered " + type);
            if (answer.error != null) throw answer.error;
            return answer.data;
        }
    }

    private void answered(Effect effect) {
        synchronized (lock) {
            Answer answer = asked.get(effect.token);
            if (answer == null) return;
            answer.isThere = true;
            answer.data = effect.message;
            answer.error = effect.error;
            lock.notifyAll();
        }
    }

    /** The deviceId. */
    public String deviceId() {
        return options.deviceId;
    }

    /** Ends the connection, and connects again, as with another credential. */
    public void reconnect() {
        later(link::leave, 0);
    }

    /** Whether the device is connected now, as far as anybody knows. */
    public boolean isConnected() {
        synchronized (lock) {
            return core.isConnected();
        }
    }

    /** Returns when the device is connected. */
    void awaitConnection() throws InterruptedException {
        synchronized (lock) {
            while (!core.isConnected()) {
                if (isStopped) throw new InterruptedException("the device stops");
                lock.wait();
            }
        }
    }

    /** A small value that outlives a restart; null when there is none. The names networks, apns and trial are the library's. */
    public Object setting(String name) {
        synchronized (lock) {
            return Json.copy(core.setting(name));
        }
    }

    /**
     * Keeps a small value of JSON that outlives a restart; null removes it. It is on the disk when this method returns.
     *
     * @throws IOException when the disk fails; then the former value stays
     */
    public void set(String name, Object value) throws IOException {
        Object copy = copyOf(value);
        synchronized (lock) {
            core.set(name, copy);
        }
    }

    /**
     * Downloads the file of a command {@code installSoftware} or {@code updateFirmware}. It goes on after a broken connection
     * and after a power cut, and asks for a fresh URL when the one of the command has expired. When it returns, the file has
     * the size and the SHA-256 of the command, and the signature of a trusted key if the device has one.
     *
     * @throws DeviceFailure with {@code SIGNATURE_REJECTED} or {@code DOWNLOAD_FAILED}, or the code of the service
     * @throws IOException when the disk fails
     */
    public void download(Command command, Path file) throws DeviceFailure, IOException, InterruptedException {
        new Download(this, command, file, options.trustedKeys).run();
    }

    private static Object copyOf(Object value) {
        try {
            return Json.read(Json.write(value));
        } catch (Json.Fault impossible) { // it was written here
            throw new IllegalArgumentException(impossible);
        }
    }

    private static Map<String, Object> objectOf(Map<String, Object> value) {
        return value == null ? null : Json.object(copyOf(value)); // null: a command without a result
    }
}
