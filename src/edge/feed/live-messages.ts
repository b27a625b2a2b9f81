import { type Clock, toUtc } from '../../runtime/clock.ts';
import type { SeenMessage } from '../../runtime/watch.ts';
import type { FeedItem } from './feed-stream.ts';
import { beginningOf, shownPayload } from './redact-payload.ts';

/** Messages of all devices of a stream that are shown in a second. */
export const MESSAGES_PER_SECOND = 50;
const SECOND = 1_000_000;
/** Topics on which it is about transactions; what a device tells of itself is its application's, whatever is in it. */
const TELLS = /\/(commands|acks|requests|responses|errors)$/;
/** Where a message says which one. */
const TRANSACTION = Buffer.from('"transactionId"');
const MOST_DIGITS = 16;
/** The number that is no transaction's: a message of one has one. */
const NOBODYS = 0;

/** A message that waits to be shown. What is secret in it is hidden when it is known that it may be. */
export interface WaitingMessage {
  deviceId: string;
  /** That it is about; undefined when it is about none. */
  transactionId: number | undefined;
  item(): FeedItem;
}

/** The number behind a colon at a place of a message, or undefined. */
function numberAt(payload: Buffer, from: number): number | undefined {
  let at = from;
  const skipSpaces = (): void => {
    while (at < payload.length && payload[at]! <= 0x20) at += 1;
  };
  skipSpaces();
  if (payload[at] !== 0x3a) return undefined;
  at += 1;
  skipSpaces();
  const first = at;
  while (at < payload.length && payload[at]! >= 0x30 && payload[at]! <= 0x39) at += 1;
  const digits = at - first;
  return digits > 0 && digits <= MOST_DIGITS ? Number(payload.toString('latin1', first, at)) : undefined;
}

/** The transaction that a message is about. One that names several is nobody's: no device and no command does that. */
function transactionOf({ topic, payload }: SeenMessage): number | undefined {
  if (!TELLS.test(topic)) return undefined;
  const bytes = typeof payload === 'string' ? Buffer.from(payload) : payload;
  let found: number | undefined;
  for (let at = bytes.indexOf(TRANSACTION); at !== -1; at = bytes.indexOf(TRANSACTION, at + 1)) {
    const number = numberAt(bytes, at + TRANSACTION.length);
    if (number === undefined || number === found) continue;
    if (found !== undefined) return NOBODYS;
    found = number;
  }
  return found;
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
      const at = toUtc(now);
      const key = String(number);
      const beginning = beginningOf(payload);
      waiting.push({
        deviceId,
        transactionId: transactionOf(message),
        item: () => {
          const value = { deviceId, at, direction, topic: topic.slice(0, 256), qos, ...shownPayload(beginning) };
          return { topic: 'device', key, value };
        },
      });
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
