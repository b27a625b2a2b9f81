package lapel.device;

import java.util.Map;
import java.util.Objects;

/** The status: sent at each login as a whole, and in between what has changed of it. It is not on the disk. */
final class Status {
    private final Ground ground;
    private final Map<String, Object> current = Json.of();

    Status(Ground ground) {
        this.ground = ground;
    }

    void report(Map<String, Object> parts) {
        Map<String, Object> changed = Json.of();
        for (Map.Entry<String, Object> part : parts.entrySet()) {
            boolean isNew = !current.containsKey(part.getKey());
            if (isNew || !Objects.equals(current.get(part.getKey()), part.getValue())) {
                changed.put(part.getKey(), part.getValue());
            }
        }
        current.putAll(changed);
        if (ground.isConnected && !changed.isEmpty()) ground.publish("status", changed, "");
    }

    void connected() {
        ground.publish("status", Json.object(Json.copy(current)), "");
    }
}
