import { remember } from '../bounded-map.ts';
import type { Command } from './messages.ts';

/** Holds what the service sends to what the contract promises about it (section 2). */
export interface Conformance {
  /** On the next connection everything unfinished comes again, from the lowest transactionId on. */
  disconnected(): void;
  /** In words what is wrong about this delivery, if anything is. `dup`: MQTT itself repeats it [MQTT-3.3.1-1]. */
  fault(command: Command, dup: boolean): string | undefined;
}

export function createConformance({ memory }: { memory: number }): Conformance {
  const attempts = new Map<number, { attempt: number; issuedAt: string }>();
  let highest = 0;

  return {
    disconnected() {
      highest = 0;
    },
    fault({ transactionId, operation, issuedAt, attempt }, dup) {
      // A cancel carries the transactionId of what it cancels, so it follows neither rule.
      if (operation === 'cancel' || dup) return undefined;
      const known = attempts.get(transactionId);
      // A first attempt under a number that is known is another command, of a service that has lost the one before.
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
  };
}
