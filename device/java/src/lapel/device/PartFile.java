package lapel.device;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Locale;

/** The part of a file that is there, with the SHA-256 of it. */
final class PartFile implements Closeable {
    private static final int CHUNK = 64 * 1024;
    private static final long MEBIBYTE = 1024 * 1024;
    private final FileChannel channel;
    private MessageDigest digest = sha256Digest();
    private long bytes;
    private long synced;

    /** Opens a part of which so many bytes are known to be on the disk, and reads them. */
    PartFile(Path path, long known) throws IOException {
        channel = FileChannel.open(
                path, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
        try {
            channel.truncate(known);
            ByteBuffer chunk = ByteBuffer.allocate(CHUNK);
            while (channel.read(chunk) >= 0) {
                chunk.flip();
                bytes += chunk.remaining();
                digest.update(chunk);
                chunk.clear();
            }
            synced = bytes;
        } catch (IOException failure) {
            channel.close();
            throw failure;
        }
    }

    private static MessageDigest sha256Digest() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException impossible) { // each Java and each Android has it
            throw new IllegalStateException(impossible);
        }
    }

    long bytes() {
        return bytes;
    }

    /** True when a mebibyte has come since the last {@link #sync}. */
    boolean append(ByteBuffer chunk) throws IOException {
        bytes += chunk.remaining();
        digest.update(chunk.duplicate());
        while (chunk.hasRemaining()) channel.write(chunk);
        return bytes - synced >= MEBIBYTE;
    }

    void sync() throws IOException {
        channel.force(true);
        synced = bytes;
    }

    /** Forgets all bytes. */
    void restart() throws IOException {
        channel.truncate(0);
        digest = sha256Digest();
        bytes = 0;
        synced = 0;
    }

    /** In hexadecimal, of all bytes so far. */
    String sha256() {
        StringBuilder hex = new StringBuilder();
        for (byte one : digest.digest()) hex.append(String.format(Locale.ROOT, "%02x", one));
        return hex.toString();
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}
