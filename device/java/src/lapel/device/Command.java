package lapel.device;

import java.io.IOException;
import java.util.Map;

/**
 * A command that the maker carries out. It is the same one, with the same {@link #id}, when a power cut came in the middle
 * of it and the service has sent it again.
 */
public final class Command {
    /** Stores a progress. */
    interface Progress {
        void store(Object value) throws IOException;
    }

    private final long transactionId;
    private final String issuedAt;
    private final String operation;
    private final Map<String, Object> parameters;
    private final boolean isInterrupted;
    private volatile Object progress;
    private volatile Progress storing;

    Command(long transactionId, String issuedAt, String operation, Map<String, Object> parameters) {
        this(transactionId, issuedAt, operation, parameters, false, null);
    }

    private Command(
            long transactionId,
            String issuedAt,
            String operation,
            Map<String, Object> parameters,
            boolean isInterrupted,
            Object progress) {
        this.transactionId = transactionId;
        this.issuedAt = issuedAt;
        this.operation = operation;
        this.parameters = parameters;
        this.isInterrupted = isInterrupted;
        this.progress = progress;
    }

    /** The command of a message; null when it is none. */
    static Command of(Map<String, Object> message) {
        if (message == null) return null;
        long transactionId = Json.whole(message.get("transactionId"));
        String issuedAt = Json.text(message.get("issuedAt"));
        String operation = Json.text(message.get("operation"));
        Map<String, Object> parameters = Json.object(message.get("parameters"));
        if (transactionId < 0 || issuedAt == null || operation == null) return null;
        return new Command(transactionId, issuedAt, operation, parameters == null ? Json.of() : parameters);
    }

    Command interrupted(Object progressOfBefore) {
        return new Command(transactionId, issuedAt, operation, parameters, true, progressOfBefore);
    }

    /** The number and the time that are this command together: the rule {@code command-identity} of docs/devices.md. */
    public String id() {
        return transactionId + " " + issuedAt;
    }

    /** The number of the transaction, up to 2^53 - 1. */
    public long transactionId() {
        return transactionId;
    }

    /** When the service issued the command, as text. */
    public String issuedAt() {
        return issuedAt;
    }

    /** The operation, as {@code setLanguage}. */
    public String operation() {
        return operation;
    }

    /** The parameters, as {@link Json} makes them, with members that this library does not know. */
    public Map<String, Object> parameters() {
        return parameters;
    }

    /** Whether the device began this command before, and lost its power or was stopped in the middle of it. */
    public boolean isInterrupted() {
        return isInterrupted;
    }

    /** The value of the last {@link #setProgress}, also from before a restart; null without one. */
    public Object progress() {
        return progress;
    }

    /**
     * Keeps a small value of JSON that outlives a restart, such as how far the device is. It is on the disk when this
     * method returns. May be called by any thread.
     *
     * @throws IOException when the disk fails
     */
    public void setProgress(Object value) throws IOException {
        Progress target = storing;
        if (target != null) target.store(value);
        progress = value;
    }

    void storesIn(Progress target) {
        storing = target;
    }
}
