import type { Entry } from './entry.ts';

/** The number of notes about other devices that are kept for each transaction. */
const KEPT = 6;

/**
 * Notices that a command, an answer or a result of a transaction came from or to another device than the one that was
 * asked. `violation` is called with a sentence for each such breach.
 */
export function createElsewhere(violation: (entry: Entry, text: string, at: number) => void) {
  const asked = ({ transactionId, deviceId }: Entry): string => `${transactionId}, which was for device ${deviceId},`;

  function add(entry: Entry, deviceId: string, text: string, at: number): void {
    if (entry.elsewhere.length < KEPT) entry.elsewhere.push({ at, deviceId, text });
  }

  /**
   * Reports a violation, at most one for each transaction. It waits for the 201, because until then it is unknown which
   * device was asked.
   */
  function say(entry: Entry, at: number): void {
    const [other] = entry.elsewhere;
    if (!other || entry.strayed || entry.phase === null) return;
    entry.strayed = true;
    violation(entry, `command ${asked(entry)} came to device ${other.deviceId}`, at);
  }

  function resultOf(entry: Entry, deviceId: string, at: number): void {
    violation(entry, `the result of transaction ${asked(entry)} names device ${deviceId}`, at);
  }

  return {
    resultOf,
    commandOf(entry: Entry, deviceId: string, at: number): void {
      add(entry, deviceId, `gets command ${entry.transactionId}`, at);
      say(entry, at);
    },
    answerOf(entry: Entry, deviceId: string, status: string, at: number): void {
      add(entry, deviceId, `answers command ${entry.transactionId}: ${status}`, at);
    },
    /**
     * Called when a call is answered 201, because only then its device is known. Commands and answers of other devices
     * that were noted before become violations now.
     */
    asked(entry: Entry, deviceId: string, at: number): void {
      const { deviceId: other, deliveredAt } = entry;
      if (other !== deviceId) {
        Object.assign(entry, {
          deviceId,
          deliveredAt: null,
          answeredAt: null,
          answer: null,
          acknowledgedAt: null,
          got: null,
          given: [],
        });
        if (deliveredAt === null) resultOf(entry, other, at);
        else add(entry, other, `gets command ${entry.transactionId}`, deliveredAt);
      }
      say(entry, at);
    },
  };
}
