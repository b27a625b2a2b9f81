import type { Client, SubscribePacket, Subscription } from 'aedes';

const REFUSED = 0x80;

interface Repeated {
  messageId: number;
  /** The topic filters of the packet in their order, with the requested QoS. */
  asked: { topic: string; qos: number }[];
}

/**
 * Answers a SUBSCRIBE that names a topic filter more than once. Its SUBACK must have a code for each filter of the
 * packet [MQTT-3.8.4-5], but Aedes skips repeated ones. So Aedes gets the packet with only the last of each repeated
 * filter, and without its identifier, which makes Aedes send no SUBACK. The SUBACK is sent here when Aedes reports the
 * granted subscriptions.
 */
export function createSubacks() {
  const repeated = new WeakMap<Subscription, Repeated>();

  return {
    /** Called before a SUBSCRIBE is carried out; changes a packet with repeated filters as described above. */
    prepare(packet: SubscribePacket): void {
      const { messageId, subscriptions } = packet;
      const last = new Map(subscriptions.map((subscription) => [subscription.topic, subscription]));
      const [one] = last.values();
      if (last.size === subscriptions.length || messageId === undefined || !one) return;
      repeated.set(one, { messageId, asked: subscriptions.map(({ topic, qos }) => ({ topic, qos })) });
      packet.subscriptions = [...last.values()];
      delete packet.messageId;
    },

    /** Called after a SUBSCRIBE was carried out; `subscriptions` have the granted QoS. */
    answer(client: Client, subscriptions: Subscription[]): void {
      const found = subscriptions[0] && repeated.get(subscriptions[0]);
      if (!found || client.closed) return;
      const refused = new Set(subscriptions.filter(({ qos }) => (qos as number) === REFUSED).map(({ topic }) => topic));
      const codes = found.asked.map(({ topic, qos }) => (refused.has(topic) ? REFUSED : qos));
      const length = 2 + codes.length;
      const lengthBytes = length < 0x80 ? [length] : [(length & 0x7f) | 0x80, length >> 7];
      client.conn.write(Buffer.from([0x90, ...lengthBytes, found.messageId >> 8, found.messageId & 0xff, ...codes]));
    },
  };
}
