package lapel.device;

import java.io.IOException;
import java.util.Arrays;

/** A disk that loses what was not synced when its power is cut, and that can fail. */
final class SimulatedDisk implements Disk {
    private byte[] seen = new byte[0];
    private byte[] synced = new byte[0];
    private int lastAppend;
    boolean fails;

    private void check() throws IOException {
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
        if (fails) seen = joined(seen, Arrays.copyOf(bytes, bytes.length / 2)); // as a full disk does
        check();
        lastAppend = seen.length;
        seen = joined(seen, bytes);
    }

    @Override
    public void sync() throws IOException {
        check();
        synced = seen;
    }

    @Override
    public void truncate(long bytes) throws IOException {
        check();
        seen = Arrays.copyOf(seen, (int) bytes);
    }

    @Override
    public void replace(byte[] bytes) throws IOException {
        check();
        lastAppend = 0;
        seen = bytes.clone();
        synced = seen;
    }

    void powerCut() {
        seen = synced;
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
