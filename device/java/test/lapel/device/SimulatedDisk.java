package lapel.device;

import java.io.IOException;
import java.util.Arrays;
import java.util.Random;

/** A disk that loses what was not synced when its power is cut, and that can fail. */
final class SimulatedDisk implements Disk {
    /** The power is cut in the middle of a write. */
    static final class PowerCut extends RuntimeException {
        private static final long serialVersionUID = 1;
    }

    private byte[] seen = new byte[0];
    private byte[] synced = new byte[0];
    private int lastAppend;
    /** What a failed sync was to write: the system shows it, and never writes it. */
    private int lostFrom;
    private int lostTo;
    /** So many writes later the power is cut; never below zero. */
    private int writesLeft = -1;
    boolean fails;
    /** The next sync fails. */
    boolean failsToSync;

    private void check() throws IOException {
        if (writesLeft == 0) throw new PowerCut();
        if (writesLeft > 0) writesLeft--;
        if (fails) throw new IOException("no space left on device");
    }

    private static byte[] joined(byte[] first, byte[] second) {
        byte[] all = Arrays.copyOf(first, first.length + second.length);
        System.arraycopy(second, 0, all, first.length, second.length);
        return all;
    }

    @Override
    public byte[] read() {
        return seen.clone();
    }

    @Override
    public void append(byte[] bytes) throws IOException {
        lastAppend = seen.length;
        boolean isTorn = fails || writesLeft == 0;
        seen = joined(seen, isTorn ? Arrays.copyOf(bytes, bytes.length / 2) : bytes);
        check();
    }

    @Override
    public void sync() throws IOException {
        check();
        if (failsToSync) {
            failsToSync = false;
            if (lostFrom == lostTo) lostFrom = synced.length;
            lostTo = seen.length;
            throw new IOException("input/output error");
        }
        synced = seen.clone();
        Arrays.fill(synced, Math.min(lostFrom, synced.length), Math.min(lostTo, synced.length), (byte) 0);
    }

    @Override
    public void truncate(long bytes) throws IOException {
        check();
        seen = Arrays.copyOf(seen, (int) bytes);
        lostTo = Math.min(lostTo, seen.length);
        lostFrom = Math.min(lostFrom, lostTo);
    }

    @Override
    public void replace(byte[] bytes) throws IOException {
        check();
        lastAppend = 0;
        lostFrom = 0;
        lostTo = 0;
        seen = bytes.clone();
        synced = seen;
    }

    void cutsAfter(int writes) {
        writesLeft = writes;
    }

    void powerCut() {
        lostFrom = 0;
        lostTo = 0;
        seen = synced;
    }

    /** What was written and not synced may be there, in part or as a whole. */
    void afterPowerCut(Random random) {
        writesLeft = -1;
        fails = false;
        failsToSync = false;
        int rest = Math.max(0, seen.length - synced.length);
        byte[] tail = Arrays.copyOfRange(seen, seen.length - rest, seen.length - rest + random.nextInt(rest + 1));
        synced = joined(synced, tail);
        powerCut();
    }

    /** Leaves so many bytes of the last append. */
    void tear(int bytes) {
        synced = Arrays.copyOf(synced, Math.min(synced.length, lastAppend + bytes));
        powerCut();
    }

    /** Changes a byte in the JSON of a line; the first line is line 1. */
    void flip(int line) {
        int at = 0;
        for (int i = 1; i < line; i++) while (synced[at++] != '\n') continue;
        synced = synced.clone();
        synced[at + 20] ^= 1;
        seen = synced;
    }

    /** What another core would find after a power cut. */
    SimulatedDisk copy() {
        SimulatedDisk other = new SimulatedDisk();
        other.synced = synced;
        other.seen = synced;
        return other;
    }
}
