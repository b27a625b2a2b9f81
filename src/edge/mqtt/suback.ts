import type { Client, SubscribePacket, Subscription } from 'aedes';

const REFUSED = 0x80;

interface Repeated {
  messageId: number;
  /** The requested topic filter and QoS of each filter of the packet. */
  asked: { topic: string; qos: number }[];
}

/**
 * A SUBACK must have a code for each filter of a SUBSCRIBE, also for repeated ones [MQTT-3.8.4-5], but Aedes leaves
 * those out. So a packet with repeated filters is passed on without its identifier, which Aedes does not answer, and
 * with only the last of each repeated filter. The SUBACK is sent here when Aedes reports the granted subscriptions.
 */
export function createSubacks() {
  const repeated = new WeakMap<Subscription, Repeated>();

  return {
    /** Called before a SUBSCRIBE is carried out; prepares packets with repeated filters. */
    prepare(packet: SubscribePacket): void {
      const { messageId, subscriptions } = packet;
      const last = new Map(subscriptions.map((subscription) => [subscription.topic, subscription]));
      const [one] = last.values();
      if (last.size === subscriptions.length || messageId === undefined || !one) return;
      repeated.set(one, { messageId, asked: subscriptions.map(({ topic, qos }) => ({ topic, qos })) });
      packet.subscriptions = [...last.values()];
      delete packet.messageId;
    },

    /** Called after a SUBSCRIBE was carried out, with the granted QoS in each subscription. */
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
