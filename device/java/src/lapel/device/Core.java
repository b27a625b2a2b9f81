package lapel.device;

import java.io.IOException;
import java.util.Map;
import java.util.Set;

/**
 * What a device does, as a machine of states: inputs come in, effects go out, in order. It has no network, no timers, no
 * threads and no clock of its own. One thread at a time calls it.
 */
final class Core {
    private static final int LONGEST_LOG = 1_000;
    private final Ground ground;
    private final Answers answers;
    private final Trials trials;
    private final Commands commands;
    private final Events events;
    private final Requests requests;
    private final Status status;

    /**
     * @param kinds the lists that this device has: {@code networks}, {@code apns}
     */
    Core(Ground ground, Set<String> kinds) {
        this.ground = ground;
        answers = new Answers(ground);
        trials = new Trials(ground, kinds);
        commands = new Commands(ground, answers, trials);
        events = new Events(ground);
        requests = new Requests(ground);
        status = new Status(ground);
    }

    /** Reads the file. Comes first. */
    void start() throws IOException {
        ground.load();
        trials.start();
    }

    boolean isConnected() {
        return ground.isConnected;
    }

    boolean isInTrial() {
        return trials.isRunning();
    }

    Memory memory() {
        return ground.memory;
    }

    int damaged() {
        return ground.damaged();
    }

    Command running() {
        return commands.running();
    }

    /**
     * A login has succeeded.
     *
     * @param over {@code networks} for Wi-Fi, {@code apns} for a mobile network, null when nobody knows
     */
    void connected(String over) {
        if (ground.isConnected) disconnected();
        trials.connected(over);
        ground.isConnected = true;
        ground.emit(Effect.subscribe());
        status.connected();
        answers.connected();
        events.connected();
        requests.connected();
        goOn();
    }

    void disconnected() {
        ground.isConnected = false;
        commands.disconnected();
    }

    private void leave() {
        disconnected();
        ground.emit(Effect.leave());
    }

    /** A message has come. Its PUBACK goes out at once: the service sends each unfinished command again at the next login. */
    void received(String topic, String text) {
        ground.emit(Effect.accept(topic));
        if (!ground.isConnected) return;
        if ("errors".equals(topic)) {
            ground.log("warn", "the service tells a fault: " + text.substring(0, Math.min(LONGEST_LOG, text.length())));
            return;
        }
        Map<String, Object> message = Json.readObject(text);
        if (message == null) ground.log("warn", "a message on the topic " + topic + " cannot be read");
        else if ("responses".equals(topic)) requests.received(message);
        else if ("commands".equals(topic)) commands.received(message);
        goOn();
    }

    /** The PUBACK of a message has come. */
    void confirmed(String topic, String token) {
        if ("acks".equals(topic)) answers.confirmed(token);
        else if ("events".equals(topic)) events.confirmed(token);
    }

    /** The maker has carried out the running command. */
    void finished(String id, Map<String, Object> result, DeviceFailure failure) {
        commands.finished(id, result, failure);
        goOn();
    }

    void progress(String id, Object value) throws IOException {
        commands.progress(id, value);
    }

    /** Some time has passed. */
    void passed() {
        if (trials.passed(answers)) leave();
        goOn();
    }

    private void goOn() {
        if (commands.goOn()) leave();
    }

    String event(String type, Map<String, Object> data, Importance importance) throws IOException {
        return events.add(type, data, importance);
    }

    void report(Map<String, Object> parts) {
        status.report(parts);
    }

    String request(String type, Map<String, Object> data) throws DeviceFailure {
        return requests.ask(type, data);
    }

    void forgetRequest(String id) {
        requests.forget(id);
    }

    Object setting(String name) {
        return ground.memory.settings.get(name);
    }

    void set(String name, Object value) throws IOException {
        ground.store(Ground.records(Json.of("k", "set", "name", name, "value", value)));
    }
}
