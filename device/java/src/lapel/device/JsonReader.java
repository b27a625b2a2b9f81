package lapel.device;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Reads one text of JSON, from left to right. */
final class JsonReader {
    private final String text;
    private int at = 0;

    JsonReader(String text) {
        this.text = text;
    }

    Object readAll() throws Json.Fault {
        Object value = value(0);
        space();
        if (at < text.length()) throw fault("the text goes on behind the value");
        return value;
    }

    private Json.Fault fault(String what) {
        return new Json.Fault(what + " at position " + at);
    }

    private void space() {
        while (at < text.length() && " \t\n\r".indexOf(text.charAt(at)) >= 0) at++;
    }

    /** The next character that is no space; 0 at the end. */
    private char next() {
        space();
        return at < text.length() ? text.charAt(at) : 0;
    }

    private Object value(int level) throws Json.Fault {
        if (level > Json.MOST_LEVELS) throw fault("more than " + Json.MOST_LEVELS + " levels");
        char first = next();
        if (first == '{') return object(level);
        if (first == '[') return list(level);
        if (first == '"') return string();
        if (first == '-' || (first >= '0' && first <= '9')) return number();
        if (text.startsWith("true", at)) return word("true", Boolean.TRUE);
        if (text.startsWith("false", at)) return word("false", Boolean.FALSE);
        if (text.startsWith("null", at)) return word("null", null);
        throw fault("no value");
    }

    private Object word(String word, Object value) {
        at += word.length();
        return value;
    }

    private Map<String, Object> object(int level) throws Json.Fault {
        Map<String, Object> object = new LinkedHashMap<>();
        at++;
        if (next() == '}') {
            at++;
            return object;
        }
        while (true) {
            if (next() != '"') throw fault("no name");
            String name = string();
            if (next() != ':') throw fault("no colon");
            at++;
            object.put(name, value(level + 1));
            char end = next();
            if (end != ',' && end != '}') throw fault("no comma");
            at++;
            if (end == '}') return object;
        }
    }

    private List<Object> list(int level) throws Json.Fault {
        List<Object> list = new ArrayList<>();
        at++;
        if (next() == ']') {
            at++;
            return list;
        }
        while (true) {
            list.add(value(level + 1));
            char end = next();
            if (end != ',' && end != ']') throw fault("no comma");
            at++;
            if (end == ']') return list;
        }
    }

    private String string() throws Json.Fault {
        StringBuilder out = new StringBuilder();
        at++;
        while (at < text.length()) {
            char one = text.charAt(at++);
            if (one == '"') return out.toString();
            if (one < ' ') throw fault("a raw control character");
            out.append(one == '\\' ? escaped() : one);
        }
        throw fault("no end of a string");
    }

    private char escaped() throws Json.Fault {
        char one = at < text.length() ? text.charAt(at++) : 0;
        if (one == 'u') return hex();
        int kind = "\"\\/bfnrt".indexOf(one);
        if (kind < 0 || one == 0) throw fault("an unknown escape");
        return "\"\\/\b\f\n\r\t".charAt(kind);
    }

    private char hex() throws Json.Fault {
        int code = 0;
        for (int i = 0; i < 4; i++) {
            char one = at < text.length() ? text.charAt(at++) : 0;
            int digit = one < 128 ? Character.digit(one, 16) : -1;
            if (digit < 0) throw fault("a faulty escape");
            code = 16 * code + digit;
        }
        return (char) code;
    }

    private boolean digits() {
        int start = at;
        while (at < text.length() && text.charAt(at) >= '0' && text.charAt(at) <= '9') at++;
        return at > start;
    }

    private boolean takes(String any) {
        boolean isThere = at < text.length() && any.indexOf(text.charAt(at)) >= 0;
        if (isThere) at++;
        return isThere;
    }

    private Json.Numeral number() throws Json.Fault {
        int start = at;
        takes("-");
        boolean isGood = takes("0") || digits();
        if (isGood && takes(".")) isGood = digits();
        if (isGood && takes("eE")) {
            takes("+-");
            isGood = digits();
        }
        if (!isGood) throw fault("a faulty number");
        return new Json.Numeral(text.substring(start, at));
    }
}
