package lapel.device;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.Set;

/**
 * Plays a service and a maker to a core at random, with power cuts at any write, torn writes, and a disk that fails for some
 * time. Prints a line of JSON with what it has counted; throws when a promise is broken. Its argument is a seed.
 */
final class Torture implements Clock {
    private static final int STEPS = 1_500;
    private static final String[] TOPICS = {"acks", "events"};
    private final Random random;
    private final SimulatedDisk disk = new SimulatedDisk();
    private final Bounds bounds = new Bounds();
    private long time = 1_800_000_000_000L;
    private Core core;
    private int ids;
    private int cuts;
    /** What the service knows of each command: null until its PUBACK of an acknowledgement. */
    private final Map<Integer, Object> settled = new LinkedHashMap<>();
    private final Queue<Effect> onTheWay = new ArrayDeque<>();
    private final Set<Integer> begun = new HashSet<>();
    private final Map<Integer, Integer> results = new HashMap<>();
    private final Set<String> told = new HashSet<>();
    private final Set<String> arrived = new HashSet<>();
    private boolean isConnected;

    private Torture(long seed) {
        random = new Random(seed);
        bounds.leastAnswers = 100_000;
        bounds.mostAnswers = 100_000;
    }

    public static void main(String[] given) throws Exception {
        new Torture(Long.parseLong(given[0])).run();
    }

    @Override
    public long now() {
        return time;
    }

    @Override
    public long monotonic() {
        return time;
    }

    private void take(Effect effect) {
        if (effect.kind == Effect.Kind.PUBLISH) onTheWay.add(effect);
        if (effect.kind == Effect.Kind.LEAVE) isConnected = false;
        if (effect.kind != Effect.Kind.BEGIN) return;
        int number = (int) effect.command.transactionId();
        // One that has not begun may count as interrupted: what the disk refused can be there after a power cut.
        boolean isAgain = !begun.add(number);
        if (isAgain && !effect.command.isInterrupted()) throw new IllegalStateException(number + " begins twice");
    }

    private void start() throws IOException {
        isConnected = false;
        onTheWay.clear();
        Set<String> kinds = new HashSet<>(Arrays.asList("networks", "apns"));
        core = new Core(new Ground(disk, bounds, this, () -> "e-" + ++ids, () -> "r-" + ++ids, this::take), kinds);
        core.start();
    }

    private void run() throws Exception {
        start();
        for (int step = 0; step < STEPS; step++) {
            try {
                step();
            } catch (SimulatedDisk.PowerCut cut) {
                cuts++;
                disk.afterPowerCut(random);
                start();
            }
        }
        disk.fails = false;
        disk.failsToSync = false;
        disk.cutsAfter(-1);
        finish();
        System.out.println(Json.write(Json.of(
                "cuts", cuts, "commands", settled.size(), "events", told.size(), "damaged", core.damaged())));
    }

    private void step() throws IOException {
        time += random.nextInt(2_000);
        switch (random.nextInt(12)) {
            case 0: connect(); break;
            case 1: case 2: command(settled.size() + 1); break;
            case 3: if (!settled.isEmpty()) command(1 + random.nextInt(settled.size())); break;
            case 4: case 5: maker(); break;
            case 6: case 7: confirm(); break;
            case 8: case 9: event(); break;
            case 10: core.passed(); break;
            default: trouble();
        }
    }

    private void connect() {
        if (isConnected && random.nextInt(4) > 0) return;
        isConnected = true;
        onTheWay.clear();
        core.connected(null);
        for (Map.Entry<Integer, Object> one : new ArrayList<>(settled.entrySet())) {
            if (one.getValue() == null) command(one.getKey());
        }
    }

    private void command(int number) {
        if (!settled.containsKey(number)) settled.put(number, null);
        if (!isConnected) return;
        core.received("commands", Json.write(Json.of(
                "transactionId", number, "operation", "any", "parameters", Json.of(), "issuedAt", "x", "attempt", 1)));
    }

    private void maker() throws IOException {
        Command running = core.running();
        if (running == null) return;
        int number = (int) running.transactionId();
        if (random.nextInt(3) == 0) {
            try {
                core.progress(running.id(), Json.of("n", random.nextInt()));
            } catch (IOException expected) {
                return;
            }
        } else {
            core.finished(running.id(), Json.of("value", random.nextInt(1_000_000)), null);
        }
    }

    private void event() {
        boolean isGood = !disk.fails && !disk.failsToSync;
        try {
            told.add(core.event("custom.a", Json.of("text", "x".length()), Importance.NORMAL));
        } catch (IOException expected) {
            if (isGood) throw new IllegalStateException("an event is refused by a good disk");
        }
    }

    /** The service stores a message, and its PUBACK may come. An answer to a command is the same each time. */
    private void confirm() {
        Effect message = onTheWay.poll();
        if (!isConnected || message == null) return;
        if (message.name.equals(TOPICS[0])) {
            int number = (int) Json.whole(message.message.get("transactionId"));
            int value = (int) Json.whole(Json.object(message.message.get("result")).get("value"));
            Integer former = results.put(number, value);
            if (former != null && former != value) throw new IllegalStateException("command " + number + " has two results");
            settled.put(number, value);
        } else if (message.name.equals(TOPICS[1])) {
            arrived.add(message.token);
        }
        if (random.nextInt(4) > 0) core.confirmed(message.name, message.token);
    }

    private void trouble() {
        if (disk.fails) disk.fails = false;
        else if (random.nextInt(3) == 0) disk.fails = true;
        else if (random.nextInt(2) == 0) disk.failsToSync = true;
        else disk.cutsAfter(random.nextInt(6));
    }

    /** All that was promised comes to its end when nothing disturbs it any more. */
    private void finish() throws IOException {
        for (int round = 0; round < 100_000; round++) {
            time += 60_000;
            core.passed();
            if (!isConnected || round % 1_000 == 0) {
                isConnected = false;
                connect();
            }
            Command running = core.running();
            if (running != null) core.finished(running.id(), Json.of("value", random.nextInt(1_000_000)), null);
            while (!onTheWay.isEmpty()) confirm();
            if (arrived.containsAll(told) && !settled.containsValue(null)) break;
        }
        List<Object> open = new ArrayList<>();
        for (Map.Entry<Integer, Object> one : settled.entrySet()) if (one.getValue() == null) open.add(one.getKey());
        if (!open.isEmpty()) throw new IllegalStateException("without an answer: " + open);
        Set<String> lost = new HashSet<>(told);
        lost.removeAll(arrived);
        if (!lost.isEmpty()) throw new IllegalStateException("lost events: " + lost);
    }
}
