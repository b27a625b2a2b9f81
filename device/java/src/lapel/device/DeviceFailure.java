package lapel.device;

/**
 * A command, a request or a download that has failed, with a code for programs and a message for people.
 *
 * <p>The codes of answers to commands stand in schemas/mqtt/ack.json, among them {@code UNSUPPORTED},
 * {@code INVALID_PARAMETERS}, {@code DOWNLOAD_FAILED}, {@code SIGNATURE_REJECTED} and {@code STORAGE_FULL}; other ones
 * are passed on as they are. The service takes 64 characters of a code and 1,000 of a message: more are cut off.
 */
public final class DeviceFailure extends Exception {
    private static final long serialVersionUID = 1;
    private static final int LONGEST_CODE = 64;
    private static final int LONGEST_MESSAGE = 1_000;
    private final String code;

    /** A code that is empty counts as {@code INTERNAL}. */
    public DeviceFailure(String code, String message) {
        super(cut(message == null ? "" : message, LONGEST_MESSAGE));
        this.code = code == null || code.isEmpty() ? "INTERNAL" : cut(code, LONGEST_CODE);
    }

    /** The code, as {@code UNSUPPORTED}. */
    public String code() {
        return code;
    }

    /** Any other exception, as the failure that the service is told: {@code INTERNAL}, with its message. */
    static DeviceFailure of(Throwable thrown) {
        if (thrown instanceof DeviceFailure) return (DeviceFailure) thrown;
        return new DeviceFailure("INTERNAL", thrown.getMessage() == null ? thrown.toString() : thrown.getMessage());
    }

    private static String cut(String text, int most) {
        if (text.length() <= most) return text;
        return text.substring(0, Character.isHighSurrogate(text.charAt(most - 1)) ? most - 1 : most);
    }
}
