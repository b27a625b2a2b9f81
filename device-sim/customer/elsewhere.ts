import type { Entry } from './entry.ts';

/** How many notes about other devices the story of a transaction keeps. */
const KEPT = 6;

/**
 * Notes commands, answers and results of other devices than the one that was asked. `violation` counts one, with a
 * sentence.
 */
export function createElsewhere(violation: (entry: Entry, text: string, at: number) => void) {
  const asked = ({ transactionId, deviceId }: Entry): string => `${transactionId}, which was for device ${deviceId},`;

  function add(entry: Entry, deviceId: string, text: string, at: number): void {
    if (entry.elsewhere.length < KEPT) entry.elsewhere.push({ at, deviceId, text });
  }

  /** Counts a violation once for each transaction, and only when it is known which device was asked. */
  function say(entry: Entry, at: number): void {
    const [other] = entry.elsewhere;
    if (!other || entry.strayed || entry.phase === null) return;
    entry.strayed = true;
    violation(entry, `command ${asked(entry)} came to device ${other.deviceId}`, at);
  }

  function resultOf(entry: Entry, deviceId: string, at: number): void {
    violation(entry, `the result of ${asked(entry)} names device ${deviceId}`, at);
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
    /** To be called when it is known which device was asked; earlier notes may then be violations. */
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
