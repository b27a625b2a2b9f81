package lapel.device;

import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** The packets of MQTT 3.1.1 that a device needs; the numbers in brackets are sections of the standard of OASIS. */
final class Packets {
    static final int CONNACK = 2;
    static final int PUBLISH = 3;
    static final int PUBACK = 4;
    static final int SUBACK = 9;
    static final int PINGRESP = 13;
    static final byte[] PINGREQ = {(byte) 0xc0, 0};
    static final byte[] DISCONNECT = {(byte) 0xe0, 0};
    /** Larger ones the service does not send. */
    private static final int MOST_BYTES = 4 * 1024 * 1024;
    private static final int MOST_LENGTH_BYTES = 4;

    final int type;
    final int flags;
    final byte[] body;

    private Packets(int type, int flags, byte[] body) {
        this.type = type;
        this.flags = flags;
        this.body = body;
    }

    /** Reads the rest of a packet whose first byte was read [2.2]. */
    static Packets read(int first, DataInputStream in) throws IOException {
        int length = 0;
        for (int i = 0; ; i++) {
            if (i == MOST_LENGTH_BYTES) throw new IOException("a packet without a length");
            int part = in.readUnsignedByte();
            length |= (part & 127) << (7 * i);
            if (part < 128) break;
        }
        if (length > MOST_BYTES) throw new IOException("a packet of " + length + " bytes");
        byte[] body = new byte[length];
        in.readFully(body);
        return new Packets(first >> 4, first & 15, body);
    }

    /** Two bytes of the body as a number. */
    int number(int at) throws IOException {
        if (body.length < at + 2) throw new IOException("a packet that is too short");
        return (body[at] & 255) << 8 | body[at + 1] & 255;
    }

    /** Clean session is false, there is no will [3.1]. */
    static byte[] connect(String deviceId, String password, int keepAliveSeconds) {
        Writer body = new Writer();
        body.text("MQTT");
        body.bytes.write(4);
        body.bytes.write(password == null ? 0x80 : 0xc0);
        body.number(keepAliveSeconds);
        body.text(deviceId);
        body.text(deviceId);
        if (password != null) body.text(password);
        return body.packet(0x10);
    }

    /** QoS 1 for each topic [3.8]. */
    static byte[] subscribe(int id, List<String> topics) {
        Writer body = new Writer();
        body.number(id);
        for (String topic : topics) {
            body.text(topic);
            body.bytes.write(1);
        }
        return body.packet(0x82);
    }

    /** QoS 1 [3.3]. */
    static byte[] publish(int id, String topic, byte[] payload) {
        Writer body = new Writer();
        body.text(topic);
        body.number(id);
        body.bytes.write(payload, 0, payload.length);
        return body.packet(0x32);
    }

    static byte[] puback(int id) {
        Writer body = new Writer();
        body.number(id);
        return body.packet(0x40);
    }

    private static final class Writer {
        final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

        void number(int number) {
            bytes.write(number >> 8);
            bytes.write(number);
        }

        void text(String text) {
            byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
            number(utf8.length);
            bytes.write(utf8, 0, utf8.length);
        }

        byte[] packet(int first) {
            ByteArrayOutputStream packet = new ByteArrayOutputStream();
            packet.write(first);
            int rest = bytes.size();
            do {
                packet.write(rest > 127 ? rest & 127 | 128 : rest);
                rest >>= 7;
            } while (rest > 0);
            packet.write(bytes.toByteArray(), 0, bytes.size());
            return packet.toByteArray();
        }
    }
}
