package lapel.device;

/**
 * What a device keeps at most. The values that are set here suit a device with some megabytes of disk; a maker may set
 * other ones before the device starts.
 */
public final class Bounds {
    /** So many answers are kept however old they are: the rule {@code memory} of docs/devices.md. */
    public int leastAnswers = 1_000;
    /** No more answers than these are kept, also within 30 days. */
    public int mostAnswers = 10_000;
    /** So many events are on their way without a PUBACK: the service takes 100 messages without one. */
    public int mostOnTheWay = 100;
    /** So many events are stored. One more makes the oldest of the lowest importance go. */
    public int mostEvents = 10_000;
    /** So many bytes of events are stored, as JSON. */
    public long mostEventBytes = 1024 * 1024;
    /** So many commands wait. A further one is forgotten; the service sends it again at the next login. */
    public int mostCommands = 1_000;
    /** So many requests wait for their answer. A further one fails with {@code BUSY}. */
    public int mostRequests = 100;
}
