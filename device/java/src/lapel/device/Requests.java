package lapel.device;

import java.util.LinkedHashMap;
import java.util.Map;

/** The requests: asked at each login until their answer comes, or nobody waits for it any more. */
final class Requests {
    private final Ground ground;
    private final Map<String, Map<String, Object>> waiting = new LinkedHashMap<>();

    Requests(Ground ground) {
        this.ground = ground;
    }

    /** Returns the requestId. */
    String ask(String type, Map<String, Object> data) throws DeviceFailure {
        if (waiting.size() >= ground.bounds.mostRequests) {
            throw new DeviceFailure("BUSY", "more requests wait than " + ground.bounds.mostRequests);
        }
        String id = ground.requestIds.get();
        waiting.put(id, Json.of("requestId", id, "type", type, "data", data));
        if (ground.isConnected) send(id);
        return id;
    }

    private void send(String id) {
        ground.publish("requests", waiting.get(id), id);
    }

    void forget(String id) {
        waiting.remove(id);
    }

    void connected() {
        for (String id : waiting.keySet()) send(id);
    }

    void received(Map<String, Object> message) {
        String id = message == null ? null : Json.text(message.get("requestId"));
        if (id == null || waiting.remove(id) == null) return;
        Map<String, Object> error = Json.object(message.get("error"));
        Map<String, Object> data = Json.object(message.get("data"));
        DeviceFailure failure = error == null
                ? null
                : new DeviceFailure(Json.text(error.get("code")), Json.text(error.get("message")));
        ground.emit(Effect.answered(id, failure == null && data == null ? Json.of() : data, failure));
    }
}
