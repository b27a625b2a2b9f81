package lapel.device;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;

/** The events: on the disk until their PUBACK, in the order in which they occurred. */
final class Events {
    /** As schemas/mqtt/event.json has it. */
    private static final Pattern TYPE = Pattern.compile("bluetooth\\.(connected|disconnected)"
            + "|(call|custom)\\.[A-Za-z0-9_.-]+|recording\\.(saved|failed)|fileUpload\\.(succeeded|failed)");
    private static final int LONGEST_TYPE = 64;
    private static final int MOST_LEVELS = 32;
    private static final int MOST_BYTES = 32 * 1024;
    private static final String NOTICE = "custom.eventsDropped";

    private final Ground ground;
    /** Sent on this connection, with or without a PUBACK. */
    private final Set<String> sent = new HashSet<>();
    private final Set<String> onTheWay = new HashSet<>();

    Events(Ground ground) {
        this.ground = ground;
    }

    /** Stores an event, and sends it when its turn has come. Returns its eventId. */
    String add(String type, Map<String, Object> data, Importance importance) throws IOException {
        if (type.length() > LONGEST_TYPE || !TYPE.matcher(type).matches()) {
            throw new IllegalArgumentException("type: not the type of an event");
        }
        if (Json.write(data).getBytes(StandardCharsets.UTF_8).length > MOST_BYTES) {
            throw new IllegalArgumentException("data: more than 32 KiB as JSON");
        }
        if (levels(data) > MOST_LEVELS) throw new IllegalArgumentException("data: nested more than 32 levels deep");
        List<Map<String, Object>> records = new ArrayList<>();
        if (ground.isConnected && hasRoomForTwo()) addNotice(records);
        String id = ground.eventIds.get();
        Map<String, Object> record = record(id, type, data, importance);
        records.add(record);
        makeRoom(id, record, importance, records);
        ground.store(records);
        sendNext();
        return id;
    }

    private static int levels(Object value) {
        int deepest = 0;
        if (value instanceof Map) for (Object one : Json.object(value).values()) deepest = Math.max(deepest, levels(one));
        else if (value instanceof List) for (Object one : Json.list(value)) deepest = Math.max(deepest, levels(one));
        else return 0;
        return deepest + 1;
    }

    private Map<String, Object> record(String id, String type, Map<String, Object> data, Importance importance) {
        Map<String, Object> message = Json.of("eventId", id, "type", type, "occurredAt", ground.time(), "data", data);
        return Json.of("k", "event", "id", id, "importance", importance.word(), "message", message);
    }

    /** Adds the records of the events that go for this one: the oldest of the lowest importance, perhaps itself. */
    private void makeRoom(String id, Map<String, Object> record, Importance importance, List<Map<String, Object>> records) {
        Memory.Event added = new Memory.Event(importance, Json.object(record.get("message")));
        long bytes = ground.memory.eventBytes + added.bytes;
        boolean isFull = ground.memory.events.size() >= ground.bounds.mostEvents || bytes > ground.bounds.mostEventBytes;
        if (!isFull) return;
        Map<String, Memory.Event> all = new LinkedHashMap<>(ground.memory.events);
        all.put(id, added);
        long dropped = 0;
        Object since = null;
        while (all.size() > ground.bounds.mostEvents || bytes > ground.bounds.mostEventBytes) {
            String least = leastOf(all);
            Memory.Event event = all.remove(least);
            bytes -= event.bytes;
            if (event == added) records.remove(record);
            else records.add(Json.of("k", "told", "id", least));
            // A notice that goes takes those along that it tells of.
            boolean isNotice = NOTICE.equals(event.message.get("type"));
            Map<String, Object> notice = isNotice ? Json.object(event.message.get("data")) : null;
            dropped += isNotice ? Json.whole(notice.get("count")) : 1;
            if (dropped == 1 || since == null) since = isNotice ? notice.get("since") : plausibleTime();
        }
        if (dropped == 0) return;
        boolean isFirst = ground.memory.dropped == 0 || (!records.isEmpty() && "dropped".equals(records.get(0).get("k")));
        long total = isFirst ? dropped : ground.memory.dropped + dropped;
        records.add(Json.of("k", "dropped", "count", total, "since", isFirst ? since : ground.memory.droppedSince));
    }

    private Object plausibleTime() {
        return Memory.isPlausible(ground.clock.now()) ? ground.time() : null;
    }

    private boolean hasRoomForTwo() {
        boolean isFew = ground.memory.events.size() + 2 <= ground.bounds.mostEvents;
        return isFew && ground.memory.eventBytes + 2 * MOST_BYTES <= ground.bounds.mostEventBytes;
    }

    /** The event that goes first. One that is on its way stays: the service may have it already. */
    private String leastOf(Map<String, Memory.Event> all) {
        String least = null;
        Importance lowest = null;
        for (Map.Entry<String, Memory.Event> one : all.entrySet()) {
            Importance importance = one.getValue().importance;
            if (onTheWay.contains(one.getKey())) continue;
            if (lowest == null || importance.compareTo(lowest) < 0) {
                least = one.getKey();
                lowest = importance;
            }
        }
        return least;
    }

    /** Adds an event that tells of those that had to go. */
    private void addNotice(List<Map<String, Object>> records) {
        if (ground.memory.dropped == 0) return;
        Map<String, Object> data = Json.of("count", ground.memory.dropped, "since", ground.memory.droppedSince);
        records.add(Json.of("k", "dropped", "count", 0, "since", null));
        records.add(record(ground.eventIds.get(), NOTICE, data, Importance.HIGH));
    }

    void connected() {
        sent.clear();
        onTheWay.clear();
        List<Map<String, Object>> records = new ArrayList<>();
        addNotice(records);
        try {
            if (!records.isEmpty()) ground.store(records);
        } catch (IOException failure) {
            ground.log("error", "the disk fails: " + failure.getMessage());
        }
        sendNext();
    }

    /** When the disk fails the event is sent again at the next login, with the same eventId. */
    void confirmed(String id) {
        onTheWay.remove(id);
        if (ground.memory.events.containsKey(id)) ground.stores(Json.of("k", "told", "id", id));
        sendNext();
    }

    private void sendNext() {
        if (!ground.isConnected) return;
        sent.retainAll(ground.memory.events.keySet());
        for (Map.Entry<String, Memory.Event> one : ground.memory.events.entrySet()) {
            if (onTheWay.size() >= ground.bounds.mostOnTheWay) return;
            if (!sent.add(one.getKey())) continue;
            onTheWay.add(one.getKey());
            ground.publish("events", one.getValue().message, one.getKey());
        }
    }
}
