package lapel.client;

/** An option of a single call. */
public final class CallOption {
    final String header;
    final String value;

    private CallOption(String header, String value) {
        this.header = header;
        this.value = value;
    }

    /** Lets a program repeat a call after its own restart. By default each call has a key of its own. */
    public static CallOption idempotencyKey(String key) {
        return new CallOption("Idempotency-Key", key);
    }

    /** Names the state that the caller has read. */
    public static CallOption ifMatch(String tag) {
        return new CallOption("If-Match", tag);
    }
}
