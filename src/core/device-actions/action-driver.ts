import { createBackgroundWork } from '../../platform/database/looks.ts';
import type { Database } from '../../platform/database/sql.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import type { Millis } from '../../runtime/units.ts';
import { findAtWork } from './action-repository.ts';
import type { DeviceAction } from './device-action.ts';

const RETRY_MS = 1_000;

interface Parts {
  database: Database;
  clock: Clock;
  log: Log;
  /** True on one node only, and always without a cluster. */
  leads(): boolean;
  /** Takes an action one piece further. */
  advance(action: DeviceAction): Promise<void>;
  /** Stops an action, because the database was restored. */
  stopRestored(action: DeviceAction): Promise<void>;
}

/** Takes all actions further in turn, a piece of each at a time, until none is at work. */
export function createActionDriver({ database, clock, log, leads, advance, stopRestored }: Parts) {
  const background = createBackgroundWork({
    clock,
    log,
    run: advanceAll,
    retryMs: RETRY_MS,
    failed: 'device actions could not be taken further; trying again',
  });
  const { isOn, takeNews, start, wake, idle, stop } = background;
  let isRestored = false;

  /** Takes all actions further, until none is left; one that fails holds up no other, and is tried again later. */
  async function advanceAll(): Promise<Millis> {
    const failed = new Map<string, unknown>();
    while (isOn() && leads()) {
      takeNews();
      const all = (await findAtWork(database.read)).filter(({ actionId }) => !failed.has(actionId));
      if (isRestored) {
        for (const action of all) await stopRestored(action);
        isRestored = false;
        continue;
      }
      if (all.length === 0) break;
      for (const action of all) {
        if (!isOn()) break;
        await advance(action).catch((error: unknown) => failed.set(action.actionId, error));
      }
    }
    for (const error of failed.values()) throw error;
    return database.lookAgainMs;
  }

  return {
    start,

    /** From now on, nothing is done before all actions that are at work are stopped. */
    stopFirst(): void {
      isRestored = true;
      wake();
    },

    wake,
    idle,
    stop,
  };
}
