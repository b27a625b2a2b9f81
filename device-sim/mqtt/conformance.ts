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
  const attempts = new Map<number, number>();
  let highest = 0;

  return {
    disconnected() {
      highest = 0;
    },
    fault({ transactionId, operation, attempt }, dup) {
      // A cancel carries the transactionId of what it cancels, so it follows neither rule.
      if (operation === 'cancel' || dup) return undefined;
      const before = attempts.get(transactionId) ?? 0;
      remember(attempts, transactionId, attempt, memory);
      if (transactionId < highest) return `command ${transactionId} came after ${highest}`;
      highest = transactionId;
      return attempt > before
        ? undefined
        : `command ${transactionId} came again with attempt ${attempt} after ${before}`;
    },
  };
}
