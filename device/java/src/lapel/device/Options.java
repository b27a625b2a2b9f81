package lapel.device;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** What a {@link Device} is made of. */
public final class Options {
    final String deviceId;
    final Path file;
    final Transport transport;
    final Bounds bounds = new Bounds();
    final List<byte[]> trustedKeys = new ArrayList<>();
    Set<String> lists = new HashSet<>(Arrays.asList("networks", "apns"));
    Clock clock = Clock.system();

    /**
     * @param deviceId 15 digits
     * @param file the memory of the device; it is made when it is not there
     * @param transport the connection
     */
    public Options(String deviceId, Path file, Transport transport) {
        this.deviceId = deviceId;
        this.file = file;
        this.transport = transport;
    }

    /** What is kept at most; it may be changed before the device is made. */
    public Bounds bounds() {
        return bounds;
    }

    /** Other clocks. */
    public Options clock(Clock other) {
        clock = other;
        return this;
    }

    /**
     * The lists that this device has: {@code networks} if it has Wi-Fi, {@code apns} if it has a mobile network. Without one,
     * {@code setWifi} or {@code setApn} comes to {@link Maker#onCommand}, which answers {@code UNSUPPORTED}.
     */
    public Options lists(String... kinds) {
        lists = new HashSet<>(Arrays.asList(kinds));
        return this;
    }

    /**
     * A public key of Ed25519, 32 bytes ({@link Ed25519#publicKey}), as part of the firmware. With one or more of them,
     * {@link Device#download} takes only files that one of them has signed: the rule {@code signatures} of docs/devices.md.
     */
    public Options trust(byte[] publicKey) {
        trustedKeys.add(publicKey.clone());
        return this;
    }
}
