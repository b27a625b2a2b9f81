package lapel.device;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What the records of the file make: the answers, the commands that have begun, the events and the settings. */
final class Memory {
    /** The rule {@code memory} of docs/devices.md. */
    private static final long MOST_AGE = 30L * 24 * 3600 * 1000;
    private static final int MOST_BEGUN = 1000;
    /** A clock that shows an earlier or a later time is wrong: 2025 to 2084. */
    private static final long FIRST_TIME = 1_735_689_600_000L;
    private static final long LAST_TIME = 3_629_059_200_000L;

    static final class Answer {
        final long at;
        final Map<String, Object> ack;
        boolean isAcked;

        Answer(long at, Map<String, Object> ack) {
            this.at = at;
            this.ack = ack;
        }
    }

    static final class Begun {
        final Object operation;
        final long at;
        Object progress;

        Begun(Object operation, long at) {
            this.operation = operation;
            this.at = at;
        }
    }

    static final class Event {
        final Importance importance;
        final Map<String, Object> message;
        final int bytes;

        Event(Importance importance, Map<String, Object> message) {
            this.importance = importance;
            this.message = message;
            bytes = Json.write(message).getBytes(StandardCharsets.UTF_8).length;
        }
    }

    final Map<String, Answer> answers = new LinkedHashMap<>();
    final Map<String, Begun> begun = new LinkedHashMap<>();
    final Map<String, Event> events = new LinkedHashMap<>();
    final Map<String, Object> settings = new LinkedHashMap<>();
    long eventBytes;
    private long newestAnswer;
    long dropped;
    Object droppedSince;

    /** A record of another kind is of a later version of this library, and is passed over. */
    void take(Map<String, Object> record) {
        String kind = String.valueOf(record.get("k"));
        String id = String.valueOf(record.get("id"));
        switch (kind) {
            case "begun":
                begun.put(id, new Begun(record.get("operation"), time(record.get("at"))));
                break;
            case "progress":
                if (begun.containsKey(id)) begun.get(id).progress = record.get("value");
                break;
            case "answer":
                begun.remove(id);
                if (record.get("ack") instanceof Map) {
                    newestAnswer = time(record.get("at"));
                    answers.put(id, new Answer(newestAnswer, Json.object(record.get("ack"))));
                }
                break;
            case "acked":
                if (answers.containsKey(id)) answers.get(id).isAcked = true;
                break;
            case "event":
                remove(id);
                if (record.get("message") instanceof Map) add(id, record);
                break;
            case "told":
                remove(id);
                break;
            case "dropped":
                dropped = Math.max(0, Json.whole(record.get("count")));
                droppedSince = record.get("since");
                break;
            case "set":
                if (record.get("value") == null) settings.remove(Json.text(record.get("name")));
                else settings.put(Json.text(record.get("name")), record.get("value"));
                break;
            default:
        }
    }

    private static long time(Object at) {
        return at instanceof Number ? ((Number) at).longValue() : 0;
    }

    private void add(String id, Map<String, Object> record) {
        Event event = new Event(Importance.of(record.get("importance")), Json.object(record.get("message")));
        events.put(id, event);
        eventBytes += event.bytes;
    }

    private void remove(String id) {
        Event event = events.remove(id);
        if (event != null) eventBytes -= event.bytes;
    }

    /** The records that make this memory. */
    List<Map<String, Object>> records() {
        List<Map<String, Object>> records = new ArrayList<>();
        for (Map.Entry<String, Object> one : settings.entrySet()) {
            records.add(Json.of("k", "set", "name", one.getKey(), "value", one.getValue()));
        }
        for (Map.Entry<String, Answer> one : answers.entrySet()) {
            Answer answer = one.getValue();
            records.add(Json.of("k", "answer", "id", one.getKey(), "at", answer.at, "ack", answer.ack));
            if (answer.isAcked) records.add(Json.of("k", "acked", "id", one.getKey()));
        }
        for (Map.Entry<String, Begun> one : begun.entrySet()) {
            Begun command = one.getValue();
            records.add(Json.of("k", "begun", "id", one.getKey(), "operation", command.operation, "at", command.at));
            if (command.progress != null) {
                records.add(Json.of("k", "progress", "id", one.getKey(), "value", command.progress));
            }
        }
        for (Map.Entry<String, Event> one : events.entrySet()) records.add(record(one.getKey(), one.getValue()));
        if (dropped > 0) records.add(Json.of("k", "dropped", "count", dropped, "since", droppedSince));
        return records;
    }

    private static Map<String, Object> record(String id, Event event) {
        return Json.of("k", "event", "id", id, "importance", event.importance.word(), "message", event.message);
    }

    /**
     * Forgets what nobody asks for any more. A clock that is wrong removes nothing: an answer goes for its age only if
     * both its time and that of the newest one are plausible, and never one of the last thousand.
     *
     * @param running the command that is carried out now; null for none
     */
    void prune(long now, Bounds bounds, String running) {
        int above = answers.size() - bounds.leastAnswers;
        Iterator<Answer> all = answers.values().iterator();
        for (int i = 0; i < above; i++) {
            if (isOld(all.next().at, newestAnswer) || answers.size() > bounds.mostAnswers) all.remove();
        }
        // A command that has ended at the service does not come again.
        Iterator<Map.Entry<String, Begun>> commands = begun.entrySet().iterator();
        while (commands.hasNext()) {
            Map.Entry<String, Begun> command = commands.next();
            boolean isGone = begun.size() > MOST_BEGUN || isOld(command.getValue().at, now);
            if (isGone && !command.getKey().equals(running)) commands.remove();
        }
    }

    static boolean isPlausible(long time) {
        return time >= FIRST_TIME && time < LAST_TIME;
    }

    private static boolean isOld(long at, long now) {
        return isPlausible(at) && isPlausible(now) && now - at > MOST_AGE;
    }
}
