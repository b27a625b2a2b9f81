package lapel.device;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The lists of networks and of access points, and the one that is on trial: "Networks that a device tries". */
final class Trials {
    static final String TRIAL = "trial";
    /** The setting of each operation that brings a list; its parameter has the same name. */
    private static final String[][] LISTS = {{"setWifi", "networks"}, {"setApn", "apns"}};
    private static final int MOST_RESTARTS = 5;
    private static final String REVERTED = "the service was not reached with the new list";

    private final Ground ground;
    /** The lists that this device has. */
    private final Set<String> kinds;
    /** By the monotonic clock. */
    private long deadline;
    /** Whether the service was reached; null while nobody knows, and again once it is on the disk. */
    private Boolean verdict;

    Trials(Ground ground, Set<String> kinds) {
        this.ground = ground;
        this.kinds = kinds;
    }

    private static String settingOf(String operation) {
        for (String[] list : LISTS) if (list[0].equals(operation)) return list[1];
        return null;
    }

    boolean takes(Command command) {
        String setting = settingOf(command.operation());
        return setting != null && kinds.contains(setting);
    }

    private Map<String, Object> trial() {
        return Json.object(ground.memory.settings.get(TRIAL));
    }

    boolean isRunning() {
        return trial() != null;
    }

    boolean isOf(Command command) {
        return isRunning() && command.id().equals(trial().get("id"));
    }

    private List<Object> list(String setting) {
        List<Object> list = Json.list(ground.memory.settings.get(setting));
        return list == null ? new ArrayList<>() : list;
    }

    private void use(String setting) {
        ground.emit(Effect.networks(setting, list(setting)));
    }

    /** After a start: a restart in a trial counts, and after the fifth the device goes back at once. */
    void start() {
        Map<String, Object> trial = trial();
        if (trial != null) {
            long restarts = Json.whole(trial.get("restarts")) + 1;
            Map<String, Object> counted = Json.of();
            counted.putAll(trial);
            counted.put("restarts", restarts);
            if (restarts >= MOST_RESTARTS) decide(Boolean.FALSE);
            else ground.stores(set(TRIAL, counted));
            if (verdict == null && isRunning()) count();
        }
        for (String[] list : LISTS) if (ground.memory.settings.containsKey(list[1])) use(list[1]);
    }

    /** Counts the whole time from now. */
    private void count() {
        deadline = ground.clock.monotonic() + 1000 * Json.whole(trial().get("seconds"));
        ground.emit(Effect.wake(deadline));
    }

    private static Map<String, Object> set(String name, Object value) {
        return Json.of("k", "set", "name", name, "value", value);
    }

    /** Carries out a command that brings a list; false when it has to wait for the disk. */
    boolean carryOut(Command command, Answers answers) {
        String setting = settingOf(command.operation());
        Object list = command.parameters().get(setting);
        if (!(list instanceof List)) {
            return answers.fail(command, new DeviceFailure("INVALID_PARAMETERS", setting + ": not a list"));
        }
        long seconds = Json.whole(command.parameters().get("revertAfter"));
        if (command.parameters().containsKey("revertAfter") && seconds < 1) {
            return answers.fail(command, new DeviceFailure("INVALID_PARAMETERS", "revertAfter: not a number of seconds"));
        }
        if (seconds < 1) {
            Map<String, Object> answer = answers.record(command.id(), Answers.succeeded(command.transactionId(), null));
            if (!ground.stores(set(setting, list), answer)) return false;
            use(setting);
            answers.send(command.id());
            return true;
        }
        Map<String, Object> trial = Json.of(
                "id", command.id(),
                "transactionId", command.transactionId(),
                "kind", setting,
                "former", list(setting),
                "seconds", seconds,
                "restarts", 0);
        if (!ground.stores(set(TRIAL, trial), set(setting, list))) return false;
        count();
        use(setting);
        return true;
    }

    /** A login over the network of the trial, or one of which nobody knows the network, ends it. */
    void connected(String over) {
        Map<String, Object> trial = trial();
        if (trial != null && verdict == null && (over == null || over.equals(trial.get("kind")))) decide(Boolean.TRUE);
    }

    /** Whether the list was given up just now, so that the connection has to end. */
    boolean passed(Answers answers) {
        if (!isRunning()) return false;
        if (verdict != null) { // the disk failed before
            String id = Json.text(trial().get("id"));
            if (decide(verdict)) answers.send(id);
            return false;
        }
        if (ground.clock.monotonic() < deadline) return false;
        String setting = Json.text(trial().get("kind"));
        List<Object> former = Json.list(trial().get("former"));
        decide(Boolean.FALSE);
        // Also while the disk fails: a device with a wrong list and a broken disk would be away for ever.
        ground.emit(Effect.networks(setting, former));
        return true;
    }

    /** In one write: which list it is, and the answer. False while the disk fails. */
    private boolean decide(Boolean isReached) {
        verdict = isReached;
        Map<String, Object> trial = trial();
        long transactionId = Json.whole(trial.get("transactionId"));
        Map<String, Object> ack = isReached
                ? Answers.succeeded(transactionId, null)
                : Answers.failed(transactionId, new DeviceFailure("REVERTED", REVERTED));
        String setting = Json.text(trial.get("kind"));
        Object list = isReached ? list(setting) : trial.get("former");
        Map<String, Object> answer =
                Json.of("k", "answer", "id", trial.get("id"), "at", ground.clock.now(), "ack", ack);
        if (!ground.stores(set(TRIAL, null), set(setting, list), answer)) return false;
        verdict = null;
        return true;
    }
}
