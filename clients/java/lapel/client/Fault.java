package lapel.client;

import java.util.List;

/** One fault of an input: its place, a message, and its type. */
public final class Fault {
    private final List<Object> loc;
    private final String message;
    private final String type;

    Fault(List<Object> loc, String message, String type) {
        this.loc = loc;
        this.message = message;
        this.type = type;
    }

    public List<Object> getLoc() {
        return loc;
    }

    public String getMessage() {
        return message;
    }

    public String getType() {
        return type;
    }
}
