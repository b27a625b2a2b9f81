import { backOff } from '../back-off.ts';
import type { Random, Range } from '../random.ts';
import type { Timers } from '../timers.ts';
import { isRefusal } from './mqtt-link.ts';

/** Keeps a device connected for as long as it is wanted. */
export interface Reconnector {
  connect(): Promise<void>;
  /** From now on the device is wanted offline; a pause or an attempt under way ends without another. */
  stop(): void;
  /** The connection is gone: begins to reconnect if the device is wanted online. Returns whether the end was expected. */
  lost(): boolean;
}

export function createReconnector({
  open,
  attempts,
  pause,
  random,
  gate,
  timers,
  onRefused,
}: {
  open: () => Promise<void>;
  attempts: number;
  pause: Range | null;
  random: Random;
  /** Awaited before each attempt; what it gives is called after it. */
  gate: (() => Promise<() => void>) | undefined;
  timers: Timers;
  onRefused: (error: Error) => void;
}): Reconnector {
  /** Counts the changes of mind: a loop that began under an older number ends itself. */
  let will = 0;
  let wanted = false;
  /** While a loop is at work, a lost connection is its business. */
  let trying = false;
  let endPause: (() => void) | undefined;

  function rest(failures: number, bounds: Range): Promise<void> {
    const milliseconds = backOff(random, bounds, failures);
    return new Promise((resolve) => {
      const cancel = timers.after(milliseconds, resolve);
      endPause = () => {
        cancel();
        resolve();
      };
    });
  }

  async function attempt(limit: number, bounds: Range, restFirst: boolean): Promise<void> {
    const mine = will;
    trying = true;
    try {
      for (let failures = restFirst ? 1 : 0; ; failures += 1) {
        if (failures > 0) await rest(failures, bounds);
        const leave = mine === will ? await gate?.() : undefined;
        try {
          if (mine !== will) throw new Error('told to stay offline');
          return await open();
        } catch (error) {
          if (mine !== will || isRefusal(error) || failures + 1 >= limit) throw error;
        } finally {
          leave?.();
        }
      }
    } finally {
      if (mine === will) trying = false;
    }
  }

  return {
    async connect() {
      will += 1;
      const mine = will;
      wanted = true;
      endPause?.();
      try {
        await attempt(attempts, pause ?? { min: 250, max: 10_000 }, false);
      } catch (error) {
        if (mine === will) wanted = false;
        throw new Error(`cannot connect: ${error instanceof Error ? error.message || String(error) : String(error)}`, {
          cause: error,
        });
      }
    },
    stop() {
      will += 1;
      wanted = false;
      trying = false;
      endPause?.();
    },
    lost() {
      if (wanted && !trying && pause) {
        const mine = will;
        attempt(Number.POSITIVE_INFINITY, pause, true).catch((error: Error) => {
          if (mine === will) onRefused(error);
        });
      }
      return !wanted;
    },
  };
}
