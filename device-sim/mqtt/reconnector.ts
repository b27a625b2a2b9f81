import { backOff } from '../back-off.ts';
import type { Random, Range } from '../random.ts';
import type { Timers } from '../timers.ts';
import { isRefusal } from './link.ts';

/** Keeps a device connected for as long as it should be online. */
export interface Reconnector {
  /** Whether the device should be online and is not: it waits before its next attempt, or makes one. */
  readonly isTrying: boolean;
  connect(): Promise<void>;
  /** The device should be offline from now on: a pause ends, and an attempt in progress is not repeated. */
  stop(): void;
  /**
   * To be called when the connection has ended. If the device should be online, it reconnects after `after`
   * milliseconds, by default after a random pause. Returns true if the device should be offline: then the end of the
   * connection was expected.
   */
  lost(after?: number): boolean;
}

const RECONNECT: Range = { min: 250, max: 10_000 };

export function createReconnector({
  open,
  attempts,
  pause = RECONNECT,
  random,
  gate,
  timers,
  onRefused,
}: {
  open: () => Promise<void>;
  attempts: number;
  /** Bounds in milliseconds of the pause before it reconnects; null: it does not. */
  pause?: Range | null | undefined;
  random: Random;
  /** Awaited before each attempt; the returned function is called after it. */
  gate: (() => Promise<() => void>) | undefined;
  timers: Timers;
  onRefused: (error: Error) => void;
}): Reconnector {
  /**
   * The number of calls of `connect` and `stop`. A loop of attempts ends when another call has come after the one that
   * began it.
   */
  let will = 0;
  let wanted = false;
  /** True while a loop of attempts runs: it also handles the end of a connection, so `lost` begins no second loop. */
  let trying = false;
  let endPause: (() => void) | undefined;

  function rest(milliseconds: number): Promise<void> {
    return new Promise((resolve) => {
      const cancel = timers.after(milliseconds, resolve);
      endPause = () => {
        cancel();
        resolve();
      };
    });
  }

  /** Tries to connect, at most `limit` times. `first`: milliseconds before the first attempt. */
  async function attempt(limit: number, bounds: Range, first: number | undefined): Promise<void> {
    const mine = will;
    trying = true;
    try {
      for (let failures = first === undefined ? 0 : 1; ; failures += 1) {
        if (failures === 1 && first !== undefined) await rest(first);
        else if (failures > 0) await rest(backOff(random, bounds, failures));
        const leave = mine === will ? await gate?.() : undefined;
        try {
          if (mine !== will) throw new Error('the device was told to stay offline');
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
    get isTrying() {
      return trying;
    },
    async connect() {
      will += 1;
      const mine = will;
      wanted = true;
      endPause?.();
      try {
        await attempt(attempts, pause ?? RECONNECT, undefined);
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
    lost(after) {
      if (wanted && !trying && pause) {
        const mine = will;
        attempt(Number.POSITIVE_INFINITY, pause, after ?? backOff(random, pause, 1)).catch((error: Error) => {
          if (mine === will) onRefused(error);
        });
      }
      return !wanted;
    },
  };
}
