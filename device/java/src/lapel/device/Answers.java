package lapel.device;

import java.nio.charset.StandardCharsets;
import java.util.Map;

/** The acknowledgements: stored before they are sent, and sent until their PUBACK. */
final class Answers {
    private static final int MOST_RESULT_BYTES = 64 * 1024;
    private final Ground ground;

    Answers(Ground ground) {
        this.ground = ground;
    }

    static Map<String, Object> succeeded(long transactionId, Map<String, Object> result) {
        Map<String, Object> ack = Json.of("transactionId", transactionId, "status", "succeeded");
        if (result != null) ack.put("result", result);
        return ack;
    }

    static Map<String, Object> failed(long transactionId, DeviceFailure failure) {
        Map<String, Object> error = Json.of("code", failure.code(), "message", failure.getMessage());
        return Json.of("transactionId", transactionId, "status", "failed", "error", error);
    }

    Map<String, Object> record(String id, Map<String, Object> ack) {
        return Json.of("k", "answer", "id", id, "at", ground.clock.now(), "ack", ack);
    }

    boolean has(String id) {
        return ground.memory.answers.containsKey(id);
    }

    /** What the service is told about a command. A result that it would not take is left out: the command is done. */
    Map<String, Object> ackOf(Command command, Map<String, Object> result, DeviceFailure failure) {
        if (failure != null) return failed(command.transactionId(), failure);
        boolean isGood = result == null || Json.write(result).getBytes(StandardCharsets.UTF_8).length <= MOST_RESULT_BYTES;
        if (!isGood) ground.log("error", "the result of " + command.operation() + " has more than 64 KiB");
        return succeeded(command.transactionId(), isGood ? result : null);
    }

    /** Stores an acknowledgement, and sends it; false while the disk fails. */
    boolean give(String id, Map<String, Object> ack) {
        if (!ground.stores(record(id, ack))) return false;
        send(id);
        return true;
    }

    boolean fail(Command command, DeviceFailure failure) {
        return give(command.id(), failed(command.transactionId(), failure));
    }

    void send(String id) {
        if (ground.isConnected) ground.publish("acks", ground.memory.answers.get(id).ack, id);
    }

    /** At each login, in order. */
    void connected() {
        for (Map.Entry<String, Memory.Answer> one : ground.memory.answers.entrySet()) {
            if (!one.getValue().isAcked) send(one.getKey());
        }
    }

    void confirmed(String id) {
        Memory.Answer answer = ground.memory.answers.get(id);
        if (answer != null && !answer.isAcked) ground.stores(Json.of("k", "acked", "id", id));
    }
}
