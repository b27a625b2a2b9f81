package lapel.device;

import java.io.IOException;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;

/** The commands: one after another, each once. */
final class Commands {
    private final Ground ground;
    private final Answers answers;
    private final Trials trials;
    private final Map<String, Command> waiting = new LinkedHashMap<>();
    private final Set<String> cancelled = new LinkedHashSet<>();
    private Command running;
    /** What the maker has answered, while the disk does not take it. */
    private Map<String, Object> unstored;

    Commands(Ground ground, Answers answers, Trials trials) {
        this.ground = ground;
        this.answers = answers;
        this.trials = trials;
    }

    Command running() {
        return running;
    }

    void received(Map<String, Object> message) {
        Command command = Command.of(message);
        if (command == null) {
            ground.log("warn", "a message on the topic commands is no command");
            return;
        }
        String id = command.id();
        if ("cancel".equals(command.operation())) cancel(id);
        else if (answers.has(id)) answers.send(id);
        else if (!cancelled.contains(id) && !isKnown(id) && !trials.isOf(command)) add(command);
    }

    private boolean isKnown(String id) {
        return waiting.containsKey(id) || (running != null && running.id().equals(id));
    }

    private void add(Command command) {
        if (waiting.size() < ground.bounds.mostCommands) waiting.put(command.id(), command);
        else ground.log("warn", "more commands wait than " + ground.bounds.mostCommands);
    }

    /** A cancel may come before its command. It counts while the connection lasts. */
    private void cancel(String id) {
        waiting.remove(id);
        if (cancelled.size() >= ground.bounds.mostCommands) cancelled.remove(cancelled.iterator().next());
        cancelled.add(id);
    }

    /** What has not begun comes again at the next login. */
    void disconnected() {
        waiting.clear();
        cancelled.clear();
    }

    void finished(String id, Map<String, Object> result, DeviceFailure failure) {
        if (running == null || !running.id().equals(id) || unstored != null) return;
        unstored = answers.ackOf(running, result, failure);
    }

    void progress(String id, Object value) throws IOException {
        boolean isRunning = running != null && running.id().equals(id) && unstored == null;
        if (isRunning) ground.store(Ground.records(Json.of("k", "progress", "id", id, "value", value)));
    }

    /** Goes on as far as it can. True when a trial has begun, so that the connection has to end. */
    boolean goOn() {
        if (unstored != null) {
            if (!answers.give(running.id(), unstored)) return false;
            unstored = null;
            running = null;
            ground.running = null;
        }
        while (running == null && !waiting.isEmpty() && !trials.isRunning()) {
            Iterator<Command> first = waiting.values().iterator();
            Command next = first.next();
            if (!(trials.takes(next) ? trials.carryOut(next, answers) : begin(next))) return false;
            first.remove();
            if (trials.isRunning()) return true;
        }
        return false;
    }

    /** Stores that the command has begun before the maker gets it. */
    private boolean begin(Command command) {
        String id = command.id();
        Memory.Begun former = ground.memory.begun.get(id);
        Command next = former == null ? command : command.interrupted(former.progress);
        Map<String, Object> begun =
                Json.of("k", "begun", "id", id, "operation", command.operation(), "at", ground.clock.now());
        if (former == null && !ground.stores(begun)) return false;
        running = next;
        ground.running = id;
        ground.emit(Effect.begin(next));
        return true;
    }
}
