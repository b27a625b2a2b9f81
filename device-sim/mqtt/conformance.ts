import { remember } from '../bounded-map.ts';
import type { Look } from '../promises/looks.ts';
import type { Command } from './messages.ts';

/** The most commands that a device may have without their PUBACK or answer (contract, section 2; docs/reference.md). */
const WINDOW = 16;

/** Checks the commands that a device receives against the promises of the contract (section 2). */
export interface Conformance {
  /**
   * To be called when the connection has ended. On the next one the service repeats every unfinished command, so the
   * order begins anew at the lowest transactionId.
   */
  disconnected(): void;
  /**
   * Checks a delivered command; returns a sentence about the breach, if there is one. `dup`: MQTT itself repeats the
   * message [MQTT-3.3.1-1].
   */
  fault(command: Command, dup: boolean): string | undefined;
  /**
   * To be called when the service was restored from a backup. It counts the attempts of that time on; the number of a command
   * still belongs to no other command.
   */
  restored(): void;
  /**
   * To be called before the commands that arrived in one piece. The service sent all of them before it could get a
   * PUBACK for one of them, so only they count for the limit.
   */
  batch(): void;
  /**
   * Counts a command that arrived. Returns the number of commands without a PUBACK or an answer if the contract does
   * not allow so many. `isAnswered`: the device has answered this command before.
   */
  overrun(isAnswered: boolean): number | undefined;
}

export function createConformance({
  memory,
  look = () => {},
}: {
  memory: number;
  look?: Look | undefined;
}): Conformance {
  const attempts = new Map<number, { attempt: number; issuedAt: string }>();
  let highest = 0;
  let wasRestored = false;
  let unconfirmed = 0;

  return {
    disconnected() {
      highest = 0;
    },
    fault({ transactionId, operation, issuedAt, attempt }, dup) {
      // A cancel has the transactionId of the command that it cancels, so the order and the attempt are not checked. A
      // message that MQTT repeats is not checked either.
      if (operation === 'cancel' || dup) return undefined;
      const known = attempts.get(transactionId);
      // A known transactionId with another issuedAt is another command: the service has lost its data, and gives out
      // the number again.
      const isSame = known?.issuedAt === issuedAt;
      const before = known && isSame ? known.attempt : 0;
      remember(attempts, transactionId, { attempt, issuedAt }, memory);
      if (known) look('command-attempt');
      if (known && !isSame && (attempt > 1 || wasRestored))
        return `command ${transactionId} came again with issuedAt ${issuedAt} instead of ${known.issuedAt}`;
      if (highest > 0) look('command-order');
      if (transactionId < highest) return `command ${transactionId} came after command ${highest}`;
      highest = transactionId;
      return attempt > before
        ? undefined
        : `command ${transactionId} came again with attempt ${attempt}, after attempt ${before}`;
    },
    restored() {
      wasRestored = true;
      for (const known of attempts.values()) known.attempt = 0;
    },
    batch() {
      unconfirmed = 0;
    },
    overrun(isAnswered) {
      // A command that is already answered does not count, because the service may have got that answer before it sent
      // the others.
      look('command-window');
      if (!isAnswered) unconfirmed += 1;
      return unconfirmed > WINDOW ? unconfirmed : undefined;
    },
  };
}
