package lapel.device;

import java.util.Map;

/** Writes values as JSON. */
final class JsonWriter {
    private static final String HEX = "0123456789abcdef";

    private JsonWriter() {}

    static void write(StringBuilder out, Object value, int level) {
        if (level > Json.MOST_LEVELS) throw new IllegalArgumentException("more than " + Json.MOST_LEVELS + " levels");
        if (value instanceof Map) object(out, (Map<?, ?>) value, level);
        else if (value instanceof Iterable) list(out, (Iterable<?>) value, level);
        else if (value instanceof CharSequence) string(out, value.toString());
        else if (value instanceof Number) number(out, (Number) value);
        else if (value == null || value instanceof Boolean) out.append(value);
        else throw new IllegalArgumentException(value.getClass().getName() + " is no value of JSON");
    }

    private static void object(StringBuilder out, Map<?, ?> object, int level) {
        char before = '{';
        for (Map.Entry<?, ?> member : object.entrySet()) {
            if (!(member.getKey() instanceof String)) throw new IllegalArgumentException("a name that is no string");
            out.append(before);
            string(out, (String) member.getKey());
            out.append(':');
            write(out, member.getValue(), level + 1);
            before = ',';
        }
        out.append(before == '{' ? "{}" : "}");
    }

    private static void list(StringBuilder out, Iterable<?> list, int level) {
        char before = '[';
        for (Object item : list) {
            out.append(before);
            write(out, item, level + 1);
            before = ',';
        }
        out.append(before == '[' ? "[]" : "]");
    }

    private static void number(StringBuilder out, Number number) {
        boolean isFraction = number instanceof Double || number instanceof Float;
        if (isFraction && (Double.isNaN(number.doubleValue()) || Double.isInfinite(number.doubleValue()))) {
            throw new IllegalArgumentException(number + " is no number of JSON");
        }
        out.append(number);
    }

    private static void string(StringBuilder out, String text) {
        out.append('"');
        for (int i = 0; i < text.length(); i++) {
            char one = text.charAt(i);
            if (one == '"' || one == '\\') out.append('\\').append(one);
            else if (one < ' ' || isLone(text, i)) escape(out, one);
            else out.append(one);
        }
        out.append('"');
    }

    /** Whether the character is half a pair whose other half is missing. */
    private static boolean isLone(String text, int i) {
        char one = text.charAt(i);
        if (Character.isHighSurrogate(one)) return i + 1 == text.length() || !Character.isLowSurrogate(text.charAt(i + 1));
        return Character.isLowSurrogate(one) && (i == 0 || !Character.isHighSurrogate(text.charAt(i - 1)));
    }

    private static void escape(StringBuilder out, char one) {
        int kind = "\b\f\n\r\t".indexOf(one);
        if (kind >= 0) {
            out.append('\\').append("bfnrt".charAt(kind));
            return;
        }
        out.append("\\u");
        for (int shift = 12; shift >= 0; shift -= 4) out.append(HEX.charAt((one >> shift) & 15));
    }
}
