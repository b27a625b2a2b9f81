package lapel.device;

import java.util.Random;

/** The pauses before attempts to connect: longer each time, with a random part, so that a fleet does not come at once. */
final class Pauses {
    private static final long FIRST = 1_000;
    private static final long LONGEST = 120_000;
    /** "Networks that a device tries": it tries often. */
    private static final long LONGEST_IN_A_TRIAL = 5_000;
    private final Random random = new Random();
    private long pause = FIRST;

    /** Milliseconds: half of them for sure, the rest at random. */
    long next(boolean isInTrial) {
        long whole = Math.min(pause, isInTrial ? LONGEST_IN_A_TRIAL : LONGEST);
        pause = Math.min(2 * whole, LONGEST);
        return whole / 2 + (long) (random.nextDouble() * (whole / 2));
    }

    void reset() {
        pause = FIRST;
    }
}
