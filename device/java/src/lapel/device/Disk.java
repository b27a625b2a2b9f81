package lapel.device;

import java.io.IOException;

/**
 * The file that outlives a power cut, as few methods as it needs. {@link FileDisk} is the real one.
 *
 * <p>Only one thread at a time calls it. Each method throws when the disk is full or broken.
 */
public interface Disk {
    /** All bytes of the file; none when there is no file yet. */
    byte[] read() throws IOException;

    /** Puts bytes behind the last ones. They may be lost until {@link #sync}. */
    void append(byte[] bytes) throws IOException;

    /** Returns when all that was appended outlives a power cut. */
    void sync() throws IOException;

    /** Removes what lies behind so many bytes. */
    void truncate(long bytes) throws IOException;

    /** Puts other bytes in the place of all: after a power cut the file has either the old ones or the new ones. */
    void replace(byte[] bytes) throws IOException;
}
