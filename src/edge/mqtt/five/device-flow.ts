import { TYPE } from '../packet-rules.ts';
import type { FromDevice } from './from-device.ts';
import { isRefusal, REASON, type Reason, reasonOfFilter, Violation } from './reasons.ts';

interface Parts {
  /** The receive maximum of the service: the most messages of the device without an answer. */
  mostUnanswered: number;
  subscribes(filter: string): boolean;
}

const SUCCESS: Reason = { code: REASON.success, text: '' };
const FAILURE = 0x80;

/**
 * Remembers of the packets of a device what their answers need: the filters of SUBSCRIBE and UNSUBSCRIBE, and the verdicts
 * on messages. Counts the messages without an answer, which are at most those that the service has allowed.
 */
export function createDeviceFlow({ mostUnanswered, subscribes }: Parts) {
  /** The packet identifiers of messages of QoS 1 and 2, until their last answer. */
  const unanswered = new Set<number>();
  const verdicts = new Map<number, Reason>();
  const asked = new Map<number, readonly string[]>();
  const left = new Map<number, readonly number[]>();
  const unanswerable = new Set<number>();

  const isSubscribed = (filter: string): boolean =>
    subscribes(filter) || asked.values().some((filters) => filters.includes(filter));

  return {
    /** Called with each packet of the device, in their order. */
    arrives(packet: FromDevice): void {
      if (packet.kind === 'subscribe') asked.set(packet.messageId, packet.filters);
      if (packet.kind === 'unsubscribe')
        left.set(
          packet.messageId,
          packet.filters.map((filter) => (isSubscribed(filter) ? REASON.success : REASON.noSubscription)),
        );
      if (packet.kind !== 'publish' || packet.qos === 0) return;
      unanswered.add(packet.messageId);
      if (unanswered.size > mostUnanswered)
        throw new Violation(
          REASON.receiveMaximum,
          `[MQTT-3.3.4-7] more than ${mostUnanswered} messages without an acknowledgement`,
        );
    },

    verdict(messageId: number, reason: Reason): void {
      verdicts.set(messageId, reason);
    },

    /** Whether the verdict on a message refuses it. */
    isRefused: (messageId: number): boolean => isRefusal(verdicts.get(messageId)?.code ?? 0),

    /** Notes a request that wants its response where the service does not send it. */
    unanswerable: (messageId: number): void => void unanswerable.add(messageId),
    takeUnanswerable: (messageId: number): boolean => unanswerable.delete(messageId),

    /** The reason that belongs into a PUBACK or PUBREC. */
    received(type: number, messageId: number): Reason {
      const reason = verdicts.get(messageId) ?? SUCCESS;
      verdicts.delete(messageId);
      if (type === TYPE.PUBACK || isRefusal(reason.code)) unanswered.delete(messageId);
      return reason;
    },

    /** Called when a PUBCOMP is written. */
    completed(messageId: number): void {
      unanswered.delete(messageId);
    },

    /** The codes of a SUBACK, for those that MQTT 3.1.1 has. */
    granted(messageId: number, codes: Iterable<number>): number[] {
      const filters = asked.get(messageId) ?? [];
      asked.delete(messageId);
      return Array.from(codes, (code, index) => (code === FAILURE ? reasonOfFilter(filters[index] ?? '') : code));
    },

    /** The codes of an UNSUBACK. */
    unsubscribed(messageId: number): readonly number[] {
      const codes = left.get(messageId) ?? [];
      left.delete(messageId);
      return codes;
    },

    /** The code for a packet that breaks a rule of MQTT 3.1.1, too. */
    codeOf(first: number, clause: string): number {
      const type = first >> 4;
      if (clause.startsWith('more ')) return REASON.quota;
      if (clause.includes('4.7.') || clause.includes('3.3.2-2'))
        return type === TYPE.PUBLISH ? REASON.topic : REASON.filter;
      return clause.includes('2.3.1-1') ? REASON.protocolError : REASON.malformed;
    },
  };
}
