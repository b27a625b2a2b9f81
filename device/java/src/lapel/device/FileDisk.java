package lapel.device;

import java.io.Closeable;
import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;

/**
 * A {@link Disk} that is a file. A file {@code NAME.lock} beside it keeps a second process away, and {@code NAME.new} is
 * there for a moment while the file is written anew.
 */
public final class FileDisk implements Disk, Closeable {
    private final Path file;
    private final Path fresh;
    private final FileChannel locked;
    private FileChannel channel;
    /** Then the file may belong to another device, which must not lose what it wrote. */
    private boolean isClosed;

    /**
     * Opens the file, or makes it.
     *
     * @throws IOException when the folder cannot be written, or another process has the file
     */
    public FileDisk(Path path) throws IOException {
        file = path.toAbsolutePath();
        fresh = beside(".new");
        locked = FileChannel.open(beside(".lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        try {
            if (lock() == null) throw new IOException(file + " is in use by another process");
            Files.deleteIfExists(fresh); // a power cut came before it took the place of the file
            open();
        } catch (IOException failure) {
            locked.close();
            throw failure;
        }
    }

    private Path beside(String end) {
        return file.resolveSibling(file.getFileName() + end);
    }

    private FileLock lock() throws IOException {
        try {
            return locked.tryLock();
        } catch (OverlappingFileLockException thisProcess) {
            return null;
        }
    }

    private void open() throws IOException {
        channel = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        channel.position(channel.size());
        syncFolder(file);
    }

    @Override
    public byte[] read() throws IOException {
        return Files.readAllBytes(file);
    }

    @Override
    public void append(byte[] bytes) throws IOException {
        checkOpen();
        writeAll(channel, bytes);
    }

    private void checkOpen() throws IOException {
        if (isClosed) throw new IOException("the device was stopped");
    }

    private static void writeAll(FileChannel channel, byte[] bytes) throws IOException {
        ByteBuffer rest = ByteBuffer.wrap(bytes);
        while (rest.hasRemaining()) channel.write(rest);
    }

    @Override
    public void sync() throws IOException {
        checkOpen();
        channel.force(true);
    }

    @Override
    public void truncate(long bytes) throws IOException {
        checkOpen();
        channel.truncate(bytes);
        channel.position(bytes);
    }

    @Override
    public void replace(byte[] bytes) throws IOException {
        checkOpen();
        try (FileChannel other = FileChannel.open(
                fresh, StandardOpenOption.CREATE, StandardOpenOption.WRITE, StandardOpenOption.TRUNCATE_EXISTING)) {
            writeAll(other, bytes);
            other.force(true);
        }
        Files.move(fresh, file, StandardCopyOption.ATOMIC_MOVE);
        channel.close();
        open();
    }

    /** Without this, a power cut could bring the old file back. Windows, on a desk of a developer, has no such call. */
    static void syncFolder(Path file) throws IOException {
        if (File.separatorChar != '/') return;
        try (FileChannel folder = FileChannel.open(file.getParent(), StandardOpenOption.READ)) {
            folder.force(true);
        }
    }

    /** Lets another process have the file. */
    @Override
    public void close() throws IOException {
        isClosed = true;
        channel.close();
        locked.close();
    }
}
