import { remember } from '../bounded-map.ts';
import type { Command } from './messages.ts';

/** The most commands without a PUBACK or an answer (contract, section 2; docs/reference.md). */
const WINDOW = 16;

/** Checks the service's messages against the promises of the contract (section 2). */
export interface Conformance {
  /** The connection ended: on the next one every unfinished command comes again, from the lowest transactionId on. */
  disconnected(): void;
  /**
   * A sentence about the fault in this delivery, if there is one. `dup`: MQTT itself repeats the message
   * [MQTT-3.3.1-1].
   */
  fault(command: Command, dup: boolean): string | undefined;
  /** The following commands came before the service could get a PUBACK for one of them. */
  batch(): void;
  /** A command came; the number of commands without a PUBACK or an answer, if there are too many. */
  overrun(isAnswered: boolean): number | undefined;
}

export function createConformance({ memory }: { memory: number }): Conformance {
  const attempts = new Map<number, { attempt: number; issuedAt: string }>();
  let highest = 0;
  let unconfirmed = 0;

  return {
    disconnected() {
      highest = 0;
    },
    fault({ transactionId, operation, issuedAt, attempt }, dup) {
      // A cancel has the transactionId of the command that it cancels, so neither rule applies to it.
      if (operation === 'cancel' || dup) return undefined;
      const known = attempts.get(transactionId);
      // A known number with another issuedAt is another command, of a service that has lost the former one.
      const isSame = known?.issuedAt === issuedAt;
      const before = known && isSame ? known.attempt : 0;
      remember(attempts, transactionId, { attempt, issuedAt }, memory);
      if (known && !isSame && attempt > 1)
        return `command ${transactionId} came again, issued at ${issuedAt} and not at ${known.issuedAt}`;
      if (transactionId < highest) return `command ${transactionId} came after ${highest}`;
      highest = transactionId;
      return attempt > before
        ? undefined
        : `command ${transactionId} came again with attempt ${attempt} after ${before}`;
    },
    batch() {
      unconfirmed = 0;
    },
    overrun(isAnswered) {
      // An answer frees its place in the window as a PUBACK does, and may have been on its way.
      if (!isAnswered) unconfirmed += 1;
      return unconfirmed > WINDOW ? unconfirmed : undefined;
    },
  };
}
