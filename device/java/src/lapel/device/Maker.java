package lapel.device;

import java.util.List;
import java.util.Map;

/** What the maker of a device writes: its operations. All else of docs/devices.md is in this library. */
public interface Maker {
    /**
     * Carries out a command, such as {@code setLanguage}. One command at a time comes, from a thread of its own, which may
     * take as long as it needs. {@code setWifi} and {@code setApn} do not come here, but to {@link #onNetworks}.
     *
     * @return the result of the operation, as schemas/mqtt/results has it; null for none
     * @throws DeviceFailure when the command fails; with the code {@code UNSUPPORTED} when the device does not know the
     *     operation
     * @throws Exception any other one fails with {@code INTERNAL} and its message
     */
    Map<String, Object> onCommand(Command command) throws Exception;

    /**
     * Uses a list from now on, in place of the former one: after a start, after a command, and when a list on trial was
     * given up. It returns when the next connection goes over it. Called from the thread of the connection.
     *
     * @param kind {@code networks} for Wi-Fi, {@code apns} for mobile networks
     * @param list as the command has it
     */
    default void onNetworks(String kind, List<Object> list) {}

    /** A login has succeeded, or the connection has ended. Called from the thread of the connection. */
    default void onConnection(boolean isConnected) {}

    /**
     * A line for the log of the device: {@code warn} and {@code error} for what somebody should look at, {@code info} for
     * the rest. Called from any thread.
     */
    default void onLog(String level, String text) {
        if (!"info".equals(level)) System.err.println(level + ": " + text);
    }
}
