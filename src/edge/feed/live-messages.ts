import { type Clock, toUtc } from '../../runtime/clock.ts';
import { SECOND } from '../../runtime/units.ts';
import type { SeenMessage } from '../../runtime/watch.ts';
import type { FeedItem } from './feed-stream.ts';
import { beginningOf, shownPayload } from './redact-payload.ts';

/** Messages of devices that a stream sends per second, over all devices that it follows. */
export const MESSAGES_PER_SECOND = 50;
/**
 * Topics whose messages may belong to a transaction. Messages on other topics belong to the application of the device,
 * whatever they contain.
 */
const ABOUT_TRANSACTIONS = /\/(commands|acks|requests|responses|errors)$/;
/** The name of the JSON member by which a message names its transaction. */
const TRANSACTION = Buffer.from('"transactionId"');
const MOST_DIGITS = 16;
/**
 * Stands for the transaction of a message that names several. No transaction has this number, so no application is
 * shown the message.
 */
const NO_TRANSACTION = 0;

/** A message of a device that waits for the next flush. Its secrets are removed only when it is sent. */
export interface WaitingMessage {
  deviceId: string;
  /** The transaction that the message is about; undefined when it is about none. */
  transactionId: number | undefined;
  item(): FeedItem;
}

/** Reads the number after a colon, from a position of the message on. Undefined when there is none. */
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

/**
 * Finds the transaction that a message is about. No honest device and no command names several transactions in one
 * message. Such a message could show one application the data of another, so applications do not see it.
 */
function transactionOf({ topic, payload }: SeenMessage): number | undefined {
  if (!ABOUT_TRANSACTIONS.test(topic)) return undefined;
  const bytes = typeof payload === 'string' ? Buffer.from(payload) : payload;
  let found: number | undefined;
  for (let at = bytes.indexOf(TRANSACTION); at !== -1; at = bytes.indexOf(TRANSACTION, at + 1)) {
    const number = numberAt(bytes, at + TRANSACTION.length);
    if (number === undefined || number === found) continue;
    if (found !== undefined) return NO_TRANSACTION;
    found = number;
  }
  return found;
}

/**
 * Collects the messages of devices until the next flush of a stream, up to MESSAGES_PER_SECOND. Further messages are
 * only counted.
 */
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

    /**
     * Removes and returns the collected messages, and the number of messages that were not collected since the last
     * call.
     */
    take() {
      const taken = { messages: waiting, dropped };
      waiting = [];
      dropped = 0;
      return taken;
    },
  };
}
