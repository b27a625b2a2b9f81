import type { Entry } from './entry.ts';

/** What other devices had to do with a transaction, in its story. */
const KEPT = 6;

/** Commands, answers and results of other devices than the one that was asked. `violation` counts one, in words. */
export function createElsewhere(violation: (entry: Entry, text: string, at: number) => void) {
  const asked = ({ transactionId, deviceId }: Entry): string =>
    `${transactionId}, which device ${deviceId} was asked for,`;

  function add(entry: Entry, deviceId: string, text: string, at: number): void {
    if (entry.elsewhere.length < KEPT) entry.elsewhere.push({ at, deviceId, text });
  }

  /** Once for each transaction, and not before it is known who was asked. */
  function say(entry: Entry, at: number): void {
    const [other] = entry.elsewhere;
    if (!other || entry.strayed || entry.phase === null) return;
    entry.strayed = true;
    violation(entry, `command ${asked(entry)} came to device ${other.deviceId}`, at);
  }

  function resultOf(entry: Entry, deviceId: string, at: number): void {
    violation(entry, `the result of ${asked(entry)} is told of device ${deviceId}`, at);
  }

  return {
    resultOf,
    commandOf(entry: Entry, deviceId: string, at: number): void {
      add(entry, deviceId, `gets command ${entry.transactionId}`, at);
      say(entry, at);
    },
    answerOf(entry: Entry, deviceId: string, status: string, at: number): void {
      add(entry, deviceId, `answers ${entry.transactionId}: ${status}`, at);
    },
    /** Who was asked is known now: what was heard of another device before is not its own. */
    asked(entry: Entry, deviceId: string, at: number): void {
      const { deviceId: other, deliveredAt } = entry;
      if (other !== deviceId) {
        Object.assign(entry, { deviceId, deliveredAt: null, answeredAt: null, answer: null, acknowledgedAt: null });
        if (deliveredAt === null) resultOf(entry, other, at);
        else add(entry, other, `gets command ${entry.transactionId}`, deliveredAt);
      }
      say(entry, at);
    },
  };
}
