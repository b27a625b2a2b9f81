package lapel.device;

import java.util.List;
import java.util.Map;

/** What the core wants done, in order. */
final class Effect {
    enum Kind {
        /** The three topics of the device, with QoS 1. */
        SUBSCRIBE,
        /** {@link #message} to the topic {@link #name}; its PUBACK is told with {@link #token}. */
        PUBLISH,
        /** The PUBACK of the oldest message that has none, which came on the topic {@link #name}. */
        ACCEPT,
        /** {@link #command} for the maker. */
        BEGIN,
        /** The request {@link #token} has its answer: {@link #message}, or the failure {@link #error}. */
        ANSWERED,
        /** The connection, or the attempt at one, ends now. */
        LEAVE,
        /** The device uses {@link #list} from now on, for what {@link #name} says: {@code networks} or {@code apns}. */
        NETWORKS,
        /** {@link #text} for people, of the level {@link #name}. */
        LOG,
        /** The core wants to know when the monotonic clock shows {@link #at}. */
        WAKE
    }

    final Kind kind;
    final String name;
    String token;
    String text;
    Map<String, Object> message;
    DeviceFailure error;
    List<Object> list;
    Command command;
    long at;

    private Effect(Kind kind, String name) {
        this.kind = kind;
        this.name = name;
    }

    static Effect subscribe() {
        return new Effect(Kind.SUBSCRIBE, "");
    }

    static Effect publish(String topic, Map<String, Object> message, String token) {
        Effect effect = new Effect(Kind.PUBLISH, topic);
        effect.message = message;
        effect.token = token;
        return effect;
    }

    static Effect accept(String topic) {
        return new Effect(Kind.ACCEPT, topic);
    }

    static Effect begin(Command command) {
        Effect effect = new Effect(Kind.BEGIN, "");
        effect.command = command;
        return effect;
    }

    static Effect answered(String requestId, Map<String, Object> data, DeviceFailure error) {
        Effect effect = new Effect(Kind.ANSWERED, "");
        effect.token = requestId;
        effect.message = data;
        effect.error = error;
        return effect;
    }

    static Effect leave() {
        return new Effect(Kind.LEAVE, "");
    }

    static Effect networks(String kind, List<Object> list) {
        Effect effect = new Effect(Kind.NETWORKS, kind);
        effect.list = list;
        return effect;
    }

    static Effect log(String level, String text) {
        Effect effect = new Effect(Kind.LOG, level);
        effect.text = text;
        return effect;
    }

    static Effect wake(long at) {
        Effect effect = new Effect(Kind.WAKE, "");
        effect.at = at;
        return effect;
    }
}
