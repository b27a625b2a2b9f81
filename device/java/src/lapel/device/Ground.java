package lapel.device;

import java.io.IOException;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Supplier;

/** What all rooms of the core stand on: the memory and its file, the clock, the connection, and the way out. */
final class Ground {
    private static final long FIRST_PAUSE = 1_000;
    private static final long LONGEST_PAUSE = 60_000;
    private static final DateTimeFormatter TIME =
            DateTimeFormatter.ofPattern("uuuu-MM-dd'T'HH:mm:ss.SSS'Z'", Locale.ROOT).withZone(ZoneOffset.UTC);

    final Memory memory = new Memory();
    final Bounds bounds;
    final Clock clock;
    final Supplier<String> eventIds;
    final Supplier<String> requestIds;
    private final Journal journal;
    private final Consumer<Effect> out;
    boolean isConnected;
    /** The id of the command that the maker carries out; null for none. */
    String running;
    private long pause = FIRST_PAUSE;

    Ground(Disk disk, Bounds bounds, Clock clock, Supplier<String> eventIds, Supplier<String> requestIds, Consumer<Effect> out) {
        journal = new Journal(disk);
        this.bounds = bounds;
        this.clock = clock;
        this.eventIds = eventIds;
        this.requestIds = requestIds;
        this.out = out;
    }

    void load() throws IOException {
        for (Map<String, Object> record : journal.load()) memory.take(record);
        memory.prune(clock.now(), bounds, running);
        if (journal.damaged() > 0) log("warn", journal.damaged() + " lines of the file are damaged");
    }

    int damaged() {
        return journal.damaged();
    }

    void emit(Effect effect) {
        out.accept(effect);
    }

    void log(String level, String text) {
        emit(Effect.log(level, text));
    }

    void publish(String topic, Map<String, Object> message, String token) {
        emit(Effect.publish(topic, message, token));
    }

    /** The time now, as messages have it. */
    String time() {
        return TIME.format(Instant.ofEpochMilli(clock.now()));
    }

    /**
     * Stores records, all of them or none.
     *
     * @throws IOException when the disk fails; then nothing has changed
     */
    void store(List<Map<String, Object>> records) throws IOException {
        journal.write(records, memory::records);
        for (Map<String, Object> record : records) memory.take(record);
        memory.prune(clock.now(), bounds, running);
        pause = FIRST_PAUSE;
        try {
            journal.shrink(memory::records);
        } catch (IOException failure) {
            log("warn", "the file could not be made smaller: " + failure.getMessage());
        }
    }

    @SafeVarargs
    static List<Map<String, Object>> records(Map<String, Object>... records) {
        List<Map<String, Object>> list = new ArrayList<>();
        for (Map<String, Object> record : records) list.add(record);
        return list;
    }

    /** As {@link #store}; false when the disk fails, and then the core looks again after a pause. */
    @SafeVarargs
    final boolean stores(Map<String, Object>... records) {
        try {
            store(records(records));
            return true;
        } catch (IOException failure) {
            log("error", "the disk fails: " + failure.getMessage());
            emit(Effect.wake(clock.monotonic() + pause));
            pause = Math.min(2 * pause, LONGEST_PAUSE);
            return false;
        }
    }
}
