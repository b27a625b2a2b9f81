import type { PlannedServiceFault, ServiceControl } from '../service/service-fault.ts';
import { pause, type Timers } from '../timers.ts';

/** Plays the faults of the service that phases name. */
export interface ServiceFaults {
  /** Plays the faults of a phase at their times, one after another; a fault begins only when the one before is over. */
  begin(faults: readonly PlannedServiceFault[]): void;
  /** Resolves when all faults that were begun are over. */
  over(): Promise<void>;
  /** How often each fault was played. */
  readonly played: Readonly<Record<string, number>>;
  /** The longest time in milliseconds from the end of a fault until the service accepted connections; 0 before. */
  readonly recovery: number;
}

/**
 * `reachable` resolves when the service accepts connections, and rejects if it does not come back. `onAway` is called
 * before each fault, `onBack` after it, and `onTrouble` if the fault could not be played or the service did not come back.
 */
export function createServiceFaults({
  control,
  timers,
  stopped,
  reachable,
  onAway,
  onBack,
  onTrouble,
}: {
  control: ServiceControl;
  timers: Timers;
  stopped: AbortSignal;
  reachable: () => Promise<void>;
  onAway: () => void;
  onBack: () => void;
  onTrouble: (text: string) => void;
}): ServiceFaults {
  const played: Record<string, number> = {};
  let recovery = 0;
  let last = Promise.resolve();

  async function play(fault: PlannedServiceFault, due: number): Promise<void> {
    await pause(timers, Math.max(0, due - timers.now()), stopped);
    if (stopped.aborted) return;
    onAway();
    try {
      await control.play(fault);
      const ended = timers.now();
      await reachable();
      recovery = Math.max(recovery, timers.now() - ended);
      played[fault.fault] = (played[fault.fault] ?? 0) + 1;
    } finally {
      onBack();
    }
  }

  return {
    begin(faults) {
      const began = timers.now();
      for (const fault of faults) {
        last = last
          .then(() => play(fault, began + fault.after))
          .catch((error: Error) => onTrouble(`the fault ${fault.fault} of the service: ${error.message}`));
      }
    },
    over: () => last,
    played,
    get recovery() {
      return recovery;
    },
  };
}
