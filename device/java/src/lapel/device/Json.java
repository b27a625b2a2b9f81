package lapel.device;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Reads and writes JSON (RFC 8259).
 *
 * <p>An object is a {@code Map<String, Object>} in the order of its members, an array a {@code List<Object>}, a string
 * a {@code String}, and {@code true}, {@code false} and {@code null} are those of Java. A number that was read is a
 * {@link Numeral}, which keeps its text: the service passes numbers on as they were written, so this library must not
 * change {@code 1.0}, {@code 1e400} or {@code 9007199254740991}. Numbers of Java are written as well.
 *
 * <p>All methods may be called by any thread.
 */
public final class Json {
    /** How deep arrays and objects may lie in each other. The service allows 32 levels in what it passes on. */
    public static final int MOST_LEVELS = 512;

    private Json() {}

    /** A text that is not JSON, or lies too deep. */
    public static final class Fault extends Exception {
        private static final long serialVersionUID = 1;

        Fault(String message) {
            super(message);
        }
    }

    /** A number as it was written. */
    public static final class Numeral extends Number {
        private static final long serialVersionUID = 1;
        private static final int LONGEST = 400;
        private final String text;

        Numeral(String text) {
            this.text = text;
        }

        @Override
        public int intValue() {
            return (int) doubleValue();
        }

        @Override
        public long longValue() {
            try {
                return Long.parseLong(text);
            } catch (NumberFormatException otherForm) {
                return (long) doubleValue();
            }
        }

        @Override
        public float floatValue() {
            return (float) doubleValue();
        }

        @Override
        public double doubleValue() {
            return Double.parseDouble(text);
        }

        /** Two numbers are equal when they have the same value: {@code 1} and {@code 1.0}. */
        @Override
        public boolean equals(Object other) {
            if (!(other instanceof Numeral)) return false;
            String its = ((Numeral) other).text;
            if (its.equals(text)) return true;
            boolean isShort = text.length() < LONGEST && its.length() < LONGEST;
            return isShort && doubleValue() == ((Numeral) other).doubleValue() && exact(text).compareTo(exact(its)) == 0;
        }

        private static BigDecimal exact(String text) {
            try {
                return new BigDecimal(text);
            } catch (NumberFormatException tooLarge) {
                return BigDecimal.valueOf(Double.MAX_VALUE);
            }
        }

        @Override
        public int hashCode() {
            return Double.valueOf(doubleValue()).hashCode();
        }

        /** The number as it was written. */
        @Override
        public String toString() {
            return text;
        }
    }

    /**
     * Reads a text.
     *
     * @throws Fault when it is not JSON, or has more than {@link #MOST_LEVELS} levels; the message has the position
     */
    public static Object read(String text) throws Fault {
        return new JsonReader(text).readAll();
    }

    /** Reads a text that is an object; null when it is anything else. */
    public static Map<String, Object> readObject(String text) {
        try {
            return object(read(text));
        } catch (Fault otherText) {
            return null;
        }
    }

    /**
     * Writes a value without spaces. A lone surrogate is written as an escape, because UTF-8 has no bytes for it.
     *
     * @throws IllegalArgumentException when the value has a part that JSON does not have, such as NaN
     */
    public static String write(Object value) {
        StringBuilder out = new StringBuilder();
        JsonWriter.write(out, value, 0);
        return out.toString();
    }

    /**
     * An object of names and values, in turn.
     *
     * @throws IllegalArgumentException when the last name has no value
     */
    public static Map<String, Object> of(Object... namesAndValues) {
        if (namesAndValues.length % 2 != 0) throw new IllegalArgumentException("the last name has no value");
        Map<String, Object> object = new LinkedHashMap<>();
        for (int i = 0; i < namesAndValues.length; i += 2) object.put((String) namesAndValues[i], namesAndValues[i + 1]);
        return object;
    }

    /** The value as an object; null when it is anything else. */
    @SuppressWarnings("unchecked") // this class makes no other maps
    public static Map<String, Object> object(Object value) {
        return value instanceof Map ? (Map<String, Object>) value : null;
    }

    /** The value as an array; null when it is anything else. */
    @SuppressWarnings("unchecked") // this class makes no other lists
    public static List<Object> list(Object value) {
        return value instanceof List ? (List<Object>) value : null;
    }

    /** The value as a text; null when it is anything else. */
    public static String text(Object value) {
        return value instanceof String ? (String) value : null;
    }

    /** The value as a whole number from 0 to 2^53 - 1, however it is written; -1 when it is anything else. */
    public static long whole(Object value) {
        if (!(value instanceof Number)) return -1;
        double number = ((Number) value).doubleValue();
        boolean isWhole = number >= 0 && number <= 9007199254740991.0 && number == Math.rint(number);
        return isWhole ? (long) number : -1;
    }

    /** A copy that nobody else changes. */
    static Object copy(Object value) {
        if (value instanceof Map) {
            Map<String, Object> object = new LinkedHashMap<>();
            for (Map.Entry<String, Object> member : object(value).entrySet()) {
                object.put(member.getKey(), copy(member.getValue()));
            }
            return object;
        }
        if (value instanceof List) {
            List<Object> list = new ArrayList<>();
            for (Object item : list(value)) list.add(copy(item));
            return list;
        }
        return value;
    }
}
