package lapel.device;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Supplier;
import java.util.zip.CRC32;

/**
 * Reads and writes the file of records. Its first line names the format. Each further line is one write: the CRC-32 of
 * the JSON in hexadecimal, a space, and the JSON, an array of records that count together or not at all.
 */
final class Journal {
    static final String FORMAT = "lapel-device 1";
    private static final int LEAST_TO_SHRINK = 256 * 1024;
    private static final int CRC_DIGITS = 8;
    private static final byte[] FIRST_LINE = (FORMAT + "\n").getBytes(StandardCharsets.UTF_8);

    private final Disk disk;
    private long size;
    private long limit = LEAST_TO_SHRINK;
    /** What of the file is not sure to be on the disk any more: the next write writes all of it anew. */
    private boolean isUnsure;
    private int damaged;

    Journal(Disk disk) {
        this.disk = disk;
    }

    /** How many lines could not be read. */
    int damaged() {
        return damaged;
    }

    /**
     * Reads all records, in order. A line with a wrong sum is passed over, and a torn last one is cut off.
     *
     * @throws IOException when the disk fails, or the file is not one of this library
     */
    List<Map<String, Object>> load() throws IOException {
        byte[] bytes = disk.read();
        List<Map<String, Object>> records = new ArrayList<>();
        damaged = 0;
        if (isBeginOfFirstLine(bytes)) {
            disk.replace(FIRST_LINE);
            size = FIRST_LINE.length;
            return records;
        }
        if (!Arrays.equals(Arrays.copyOf(bytes, FIRST_LINE.length), FIRST_LINE)) {
            throw new IOException("the file does not begin with \"" + FORMAT + "\"");
        }
        int start = FIRST_LINE.length;
        for (int end = start; end < bytes.length; end++) {
            if (bytes[end] != '\n') continue;
            if (end > start) take(new String(bytes, start, end - start, StandardCharsets.UTF_8), records);
            start = end + 1;
        }
        size = start;
        if (start < bytes.length) disk.truncate(start);
        return records;
    }

    /** A power cut can leave a file that is empty, or a part of its first line. */
    private static boolean isBeginOfFirstLine(byte[] bytes) {
        return bytes.length < FIRST_LINE.length && Arrays.equals(bytes, Arrays.copyOf(FIRST_LINE, bytes.length));
    }

    private void take(String line, List<Map<String, Object>> records) {
        List<Object> write = line.length() > CRC_DIGITS && lineOf(line.substring(CRC_DIGITS + 1)).equals(line + "\n")
                ? parsed(line.substring(CRC_DIGITS + 1))
                : null;
        if (write == null) {
            damaged++;
            return;
        }
        for (Object record : write) if (record instanceof Map) records.add(Json.object(record));
    }

    private static List<Object> parsed(String json) {
        try {
            return Json.list(Json.read(json));
        } catch (Json.Fault otherText) {
            return null;
        }
    }

    private static String lineOf(String json) {
        CRC32 sum = new CRC32();
        sum.update(json.getBytes(StandardCharsets.UTF_8));
        return String.format(Locale.ROOT, "%08x %s\n", sum.getValue(), json);
    }

    private static byte[] bytesOf(List<Map<String, Object>> records) {
        return lineOf(Json.write(records)).getBytes(StandardCharsets.UTF_8);
    }

    /**
     * Returns when the records are on the disk: all of them or, when it throws, none that count.
     *
     * @param alive the records that make the state of before, for a file that has to be written anew
     */
    void write(List<Map<String, Object>> records, Supplier<List<Map<String, Object>>> alive) throws IOException {
        byte[] line = bytesOf(records);
        if (isUnsure) {
            replace(alive.get(), line);
            return;
        }
        try {
            disk.append(line);
        } catch (IOException failure) {
            // A part of the line may be there. Where even this fails, the next write writes all anew.
            isUnsure = true;
            disk.truncate(size);
            isUnsure = false;
            throw failure;
        }
        // After a failed sync nobody knows which bytes the system will still write.
        isUnsure = true;
        disk.sync();
        isUnsure = false;
        size += line.length;
    }

    /** Writes the file anew when it is large, and most of it is out of date. A failure leaves it as it is. */
    void shrink(Supplier<List<Map<String, Object>>> alive) throws IOException {
        if (size <= limit) return;
        List<Map<String, Object>> records = alive.get();
        long needed = FIRST_LINE.length;
        for (Map<String, Object> record : records) needed += bytesOf(one(record)).length;
        limit = Math.max(LEAST_TO_SHRINK, 2 * needed);
        if (size <= limit) return;
        limit = 2 * size; // after a failure not again at once
        replace(records, new byte[0]);
        limit = Math.max(LEAST_TO_SHRINK, 2 * needed);
    }

    private void replace(List<Map<String, Object>> records, byte[] line) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        out.write(FIRST_LINE);
        for (Map<String, Object> record : records) out.write(bytesOf(one(record)));
        out.write(line);
        isUnsure = true; // the old file may be there, or the new one
        disk.replace(out.toByteArray());
        isUnsure = false;
        size = out.size();
    }

    private static List<Map<String, Object>> one(Map<String, Object> record) {
        List<Map<String, Object>> records = new ArrayList<>();
        records.add(record);
        return records;
    }
}
