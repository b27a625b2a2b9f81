package lapel.device;

/**
 * The time, as the device knows it. On Android, {@code SystemClock.elapsedRealtime()} is the better second clock, because
 * it goes on while the device sleeps.
 */
public interface Clock {
    /** Milliseconds since 1970 by the clock of the wall, which may be wrong. */
    long now();

    /** Milliseconds by a clock that nobody sets. */
    long monotonic();

    /** The clocks of Java. */
    static Clock system() {
        return new Clock() {
            @Override
            public long now() {
                return System.currentTimeMillis();
            }

            @Override
            public long monotonic() {
                return System.nanoTime() / 1_000_000;
            }
        };
    }
}
