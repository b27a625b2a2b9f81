import { type Clock, toUtc } from '../clock.ts';
import type { SeenMessage } from '../watch.ts';
import type { FeedItem } from './feed-stream.ts';
import { shownPayload } from './redact-payload.ts';

/** Messages of all devices of a stream that are shown in a second. */
export const MESSAGES_PER_SECOND = 50;
const SECOND = 1_000_000;
/** Topics on which it is about transactions; what a device tells of itself is its application's, whatever is in it. */
const TELLS = /\/(commands|acks|requests|responses|errors)$/;
/** Where a message says which one. */
const TRANSACTION = /"transactionId"\s*:\s*(\d{1,16})(?!\d)/g;
/** The number that is no transaction's: a message of one has one. */
const NOBODYS = 0;

/** A message that waits to be shown. */
export interface WaitingMessage {
  deviceId: string;
  /** That it is about; undefined when it is about none. */
  transactionId: number | undefined;
  item: FeedItem;
}

/** The transaction that a message is about. One that names several is nobody's: no device and no command does that. */
function transactionOf({ topic, payload }: SeenMessage): number | undefined {
  if (!TELLS.test(topic)) return undefined;
  const found = new Set(Array.from(payload.toString('latin1').matchAll(TRANSACTION), ([, digits]) => Number(digits)));
  return found.size > 1 ? NOBODYS : [...found][0];
}

/** The messages that wait for a stream's next flush: so many a second, the others are counted. */
export function createLiveMessages(clock: Clock) {
  let waiting: WaitingMessage[] = [];
  let dropped = 0;
  let since = 0;
  let taken = 0;
  let number = 0;

  return {
    add(message: SeenMessage): void {
      const { deviceId, direction, topic, qos, payload } = message;
      const now = clock.now();
      if (now - since >= SECOND) {
        since = now;
        taken = 0;
      }
      if (taken >= MESSAGES_PER_SECOND || waiting.length >= MESSAGES_PER_SECOND) {
        dropped += 1;
        return;
      }
      taken += 1;
      number += 1;
      const value = { deviceId, at: toUtc(now), direction, topic: topic.slice(0, 256), qos, ...shownPayload(payload) };
      const item = { topic: 'device', key: String(number), value } as const;
      waiting.push({ deviceId, transactionId: transactionOf(message), item });
    },

    /** What waits, and how many were left out since. */
    take() {
      const taken = { messages: waiting, dropped };
      waiting = [];
      dropped = 0;
      return taken;
    },
  };
}
