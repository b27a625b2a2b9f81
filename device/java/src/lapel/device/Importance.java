package lapel.device;

import java.util.Locale;

/** Which events go first when the store is full. */
public enum Importance {
    LOW,
    NORMAL,
    HIGH;

    /** The word in the file. */
    String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    static Importance of(Object word) {
        for (Importance one : values()) if (one.word().equals(word)) return one;
        return NORMAL;
    }
}
