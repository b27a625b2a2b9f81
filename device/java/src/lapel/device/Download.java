package lapel.device;

import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.URL;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Map;

/** One download: the rules {@code downloads} and {@code signatures} of docs/devices.md. */
final class Download {
    private static final int CONNECT_TIMEOUT = 30_000;
    private static final int READ_TIMEOUT = 60_000;
    private static final int MOST_TRIES = 8;
    private static final int MOST_OTHER_FILES = 2;
    /** With these a store may say that the URL has expired. */
    private static final List<Integer> EXPIRED = Arrays.asList(401, 403, 404, 410);
    private static final long FIRST_PAUSE = 1_000;
    private static final long LONGEST_PAUSE = 60_000;
    private static final long URL_PATIENCE = 60_000;
    private static final int CHUNK = 64 * 1024;
    /** With fewer bytes the disk counts as full. */
    private static final long LEAST_FREE = 64 * 1024;

    private final Device device;
    private final Command command;
    private final Path file;
    private final List<byte[]> keys;
    private final Map<String, Object> wanted;
    private final long size;
    private final String sha256;
    private String url;
    private String entityTag;
    /** In a row, without a byte in between. */
    private int tries;
    private int otherFiles;

    Download(Device device, Command command, Path file, List<byte[]> keys) {
        this.device = device;
        this.command = command;
        this.file = file.toAbsolutePath();
        this.keys = keys;
        wanted = command.parameters();
        url = Json.text(wanted.get("url"));
        size = Json.whole(wanted.get("size"));
        sha256 = Json.text(wanted.get("sha256"));
    }

    /** A try that has failed; another one may succeed. */
    private static final class Failed extends Exception {
        private static final long serialVersionUID = 1;

        Failed(String message) {
            super(message);
        }
    }

    void run() throws DeviceFailure, IOException, InterruptedException {
        if (url == null || size < 0 || sha256 == null) {
            throw new DeviceFailure("INVALID_PARAMETERS", "the command has no url, size or sha256");
        }
        // Firmware carries no signature of this kind: its maker checks it.
        if (command.operation().equals("installSoftware") && !keys.isEmpty() && !isSigned()) {
            throw new DeviceFailure("SIGNATURE_REJECTED", "no trusted key has signed this version");
        }
        Map<String, Object> progress = Json.object(command.progress());
        long start = progress == null ? 0 : Math.max(0, Json.whole(progress.get("bytes")));
        entityTag = progress == null ? null : Json.text(progress.get("entityTag"));
        Path part = file.resolveSibling(file.getFileName() + ".part");
        try {
            fill(part, start);
        } catch (DeviceFailure failure) {
            Files.deleteIfExists(part); // nobody goes on with it
            throw failure;
        }
        Files.move(part, file, StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.ATOMIC_MOVE);
        FileDisk.syncFolder(file);
    }

    private void fill(Path part, long start) throws DeviceFailure, IOException, InterruptedException {
        try (PartFile target = new PartFile(part, start)) {
            if (free() < size - target.bytes()) throw full();
            while (!isWhole(target)) oneTry(target);
            target.sync();
        } catch (IOException failure) {
            // Java does not say which one it is. A part that fills the disk would leave no room for the answer.
            if (free() < LEAST_FREE) throw full();
            throw failure;
        }
    }

    private long free() {
        return file.getParent().toFile().getUsableSpace();
    }

    private DeviceFailure full() {
        return new DeviceFailure("STORAGE_FULL", "the file has " + size + " bytes, and " + free() + " are free");
    }

    /** "Software that is signed". */
    private boolean isSigned() {
        String text = "lapel-software-v1\n" + wanted.get("package") + "\n" + wanted.get("version") + "\n" + sha256 + "\n";
        String encoded = Json.text(wanted.get("signature"));
        byte[] signature;
        try {
            signature = Base64.getDecoder().decode(encoded == null ? "" : encoded);
        } catch (IllegalArgumentException otherText) {
            return false;
        }
        for (byte[] key : keys) {
            if (Ed25519.verify(key, text.getBytes(StandardCharsets.UTF_8), signature)) return true;
        }
        return false;
    }

    private boolean isWhole(PartFile target) throws DeviceFailure, IOException {
        if (target.bytes() < size) return false;
        if (target.bytes() == size && target.sha256().equals(sha256)) return true;
        otherFile(target);
        return false;
    }

    /** A store may have mixed two files, so another whole download may be the right one. */
    private void otherFile(PartFile target) throws DeviceFailure, IOException {
        otherFiles++;
        target.restart();
        if (otherFiles >= MOST_OTHER_FILES) {
            throw new DeviceFailure("DOWNLOAD_FAILED", "the file is not the one that was meant");
        }
    }

    private void oneTry(PartFile target) throws DeviceFailure, IOException, InterruptedException {
        long before = target.bytes();
        try {
            fetch(target);
        } catch (Failed failure) {
            if (!device.isConnected()) { // no network: it goes on when there is one again
                device.awaitConnection();
                return;
            }
            tries = target.bytes() > before ? 1 : tries + 1;
            if (tries >= MOST_TRIES) throw new DeviceFailure("DOWNLOAD_FAILED", failure.getMessage());
            Thread.sleep(Math.min(FIRST_PAUSE << tries, LONGEST_PAUSE) / 2);
        }
    }

    private void fetch(PartFile target) throws Failed, DeviceFailure, IOException, InterruptedException {
        HttpURLConnection connection = null;
        try {
            connection = open(target.bytes());
            int status = statusOf(connection);
            if (EXPIRED.contains(status)) {
                askForUrl(status);
                return;
            }
            if (status == 416) target.restart();
            if (status != 200 && status != 206) throw new Failed("the file store answered " + status);
            if (target.bytes() > 0 && !isRest(connection, status, target.bytes())) target.restart();
            if (status == 206 && target.bytes() == 0 && !isRest(connection, status, 0)) {
                throw new Failed("the file store answered with another range");
            }
            entityTag = connection.getHeaderField("ETag");
            copy(connection, target);
        } finally {
            if (connection != null) connection.disconnect();
        }
    }

    private HttpURLConnection open(long from) throws Failed {
        try {
            HttpURLConnection connection = (HttpURLConnection) new URL(url).openConnection();
            connection.setConnectTimeout(CONNECT_TIMEOUT);
            connection.setReadTimeout(READ_TIMEOUT);
            connection.setRequestProperty("Accept-Encoding", "identity");
            if (from == 0) return connection;
            connection.setRequestProperty("Range", "bytes=" + from + "-");
            boolean isStrong = entityTag != null && entityTag.startsWith("\"");
            if (isStrong) connection.setRequestProperty("If-Range", entityTag);
            return connection;
        } catch (IOException | ClassCastException failure) { // a URL that is none, or not one of HTTP
            throw new Failed("the URL cannot be used: " + failure.getMessage());
        }
    }

    private static int statusOf(HttpURLConnection connection) throws Failed {
        try {
            return connection.getResponseCode();
        } catch (IOException failure) {
            throw new Failed("the file store cannot be reached: " + failure);
        }
    }

    private static boolean isRest(HttpURLConnection connection, int status, long from) {
        String range = connection.getHeaderField("Content-Range");
        return status == 206 && range != null && range.startsWith("bytes " + from + "-");
    }

    /** The URL has expired: the store says so, not the clock. */
    private void askForUrl(int status) throws Failed, DeviceFailure, InterruptedException {
        tries++;
        if (tries >= MOST_TRIES) throw new DeviceFailure("DOWNLOAD_FAILED", "the file store answered " + status);
        Map<String, Object> asked = Json.of("transactionId", command.transactionId());
        Map<String, Object> fresh;
        try {
            fresh = device.request("softwareDownloadUrl", asked, URL_PATIENCE);
        } catch (DeviceFailure failure) {
            if (failure.code().equals("NO_ANSWER") || failure.code().equals("BUSY")) throw new Failed(failure.getMessage());
            throw failure;
        }
        String other = Json.text(fresh.get("url"));
        if (other == null || !sha256.equals(fresh.get("sha256"))) {
            throw new DeviceFailure("DOWNLOAD_FAILED", "the service has another file now");
        }
        url = other;
    }

    private void copy(HttpURLConnection connection, PartFile target) throws Failed, DeviceFailure, IOException {
        byte[] chunk = new byte[CHUNK];
        long before = target.bytes();
        try (Body body = new Body(connection)) {
            for (int count = body.read(chunk); count >= 0; count = body.read(chunk)) {
                if (target.bytes() + count > size) {
                    otherFile(target);
                    return;
                }
                boolean isDue = target.append(ByteBuffer.wrap(chunk, 0, count));
                if (isDue) keepPlace(target);
            }
        } finally {
            keepPlace(target);
        }
        if (target.bytes() == size) return;
        boolean isAll = target.bytes() - before == connection.getContentLengthLong();
        if (isAll) otherFile(target);
        else throw new Failed("the download ended after " + target.bytes() + " of " + size + " bytes");
    }

    private void keepPlace(PartFile target) throws IOException {
        target.sync();
        command.setProgress(Json.of("bytes", target.bytes(), "entityTag", entityTag));
    }

    /** The answer of the store, whose failures are not failures of the disk. */
    private static final class Body implements Closeable {
        private final InputStream in;

        Body(HttpURLConnection connection) throws Failed {
            try {
                in = connection.getInputStream();
            } catch (IOException failure) {
                throw new Failed("the file store cannot be reached: " + failure);
            }
        }

        int read(byte[] chunk) throws Failed {
            try {
                return in.read(chunk);
            } catch (IOException failure) {
                throw new Failed("the connection broke: " + failure);
            }
        }

        @Override
        public void close() {
            try {
                in.close();
            } catch (IOException ofTheConnection) {
                // All that came is on the disk.
            }
        }
    }
}
