import { isDatabaseAway } from '@lapel/schemas/contracts/errors';
import type { Database, Pace, UnitOfWork } from '../../platform/database/sql.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import { deletePresence, saveLastSeen } from './presence-repository.ts';

// The most milliseconds between a packet of a device and the write of its time; a crash loses the times of at most this
// long.
const GATHER_MS = 60_000;
// With several nodes the time is stored sooner, because the other nodes read it. A device that sends all the time still
// causes few writes.
const AMONG_NODES_MS = 15_000;
// Milliseconds until the time of a device that has disconnected is stored, together with those of other devices,
// because a whole fleet can disconnect at once.
const LEFT_MS = 1_000;
const ROWS_PER_UNIT = 256;
// The most devices whose times are gathered in memory (about 10 MB). Above it, the times are written at once.
const BOUND = 100_000;

interface Parts {
  database: Database;
  clock: Clock;
  log: Log;
}

export type Presence = ReturnType<typeof createPresence>;

/**
 * The times at which devices were last heard of. Every packet of a device changes its time, so this must be cheap: a newer
 * time is an entry in a map, and entries are written in batches. Whether a device is connected is not stored, since the
 * broker knows it, and after a crash no device is connected.
 */
export function createPresence({ database, clock, log }: Parts) {
  const newer = new Map<string, number>();
  /** The devices that have disconnected, and whose last time is not stored yet. */
  const left = new Set<string>();
  const gatherMs = database.shared ? AMONG_NODES_MS : GATHER_MS;
  const ofAll = createTimer(() => newer.keys());
  const ofLeft = createTimer(() => left.keys());
  let writing = false;

  /** Makes a timer for writing the times of some devices. It can be armed several times; the earliest time counts. */
  function createTimer(due: () => Iterable<string>) {
    let cancel: (() => void) | undefined;
    let dueAt = Number.POSITIVE_INFINITY;
    function disarm(): void {
      cancel?.();
      cancel = undefined;
      dueAt = Number.POSITIVE_INFINITY;
    }
    function arm(milliseconds: number): void {
      const at = clock.now() + milliseconds * 1000;
      if (at >= dueAt) return;
      disarm();
      dueAt = at;
      cancel = clock.after(milliseconds, () => {
        disarm();
        flush([...due()]).catch((err: unknown) => {
          if (!isDatabaseAway(err))
            log.error({ err }, 'the times at which devices were last seen could not be written; trying again');
          arm(gatherMs);
        });
      });
    }
    return { arm, disarm, isArmed: (): boolean => cancel !== undefined };
  }

  async function flush(due: readonly string[], pace: Pace = 'soon'): Promise<void> {
    writing = true;
    try {
      for (let start = 0; start < due.length; start += ROWS_PER_UNIT) {
        // All units lock the rows in the same order, because two units with different orders could wait for each other.
        const deviceIds = due.slice(start, start + ROWS_PER_UNIT).sort();
        await database.transact((unit) => write(unit, deviceIds), { pace });
      }
    } finally {
      writing = false;
    }
  }

  async function write(unit: UnitOfWork, deviceIds: readonly string[]): Promise<void> {
    const heard: { deviceId: string; at: number }[] = [];
    for (const deviceId of deviceIds) {
      const at = newer.get(deviceId);
      if (at !== undefined) heard.push({ deviceId, at }); // a device without a time was removed meanwhile
    }
    await saveLastSeen(unit, heard);
    unit.onCommit(() => {
      // A device that was heard of again meanwhile keeps its entry.
      for (const { deviceId, at } of heard) {
        if (newer.get(deviceId) !== at) continue;
        newer.delete(deviceId);
        left.delete(deviceId);
      }
    });
  }

  return {
    /** Call this at every packet of the device. */
    heard(deviceId: string): void {
      newer.set(deviceId, clock.now());
      if (!ofAll.isArmed()) ofAll.arm(gatherMs);
      if (newer.size > BOUND && !writing) ofAll.arm(0);
    },

    /** Call this when the device's connection has ended. */
    left(deviceId: string): void {
      if (!newer.has(deviceId)) return;
      left.add(deviceId);
      ofLeft.arm(LEFT_MS);
    },

    /**
     * The time at which the device was last heard of, in microseconds; undefined when no time is newer than the stored
     * one.
     */
    newerThanStored: (deviceId: string): number | undefined => newer.get(deviceId),

    /** Deletes the time at which a device was last heard of, in the unit of work that removes the device. */
    async remove(unit: UnitOfWork, deviceId: string): Promise<void> {
      const at = newer.get(deviceId);
      newer.delete(deviceId); // before the commit, because a batch in the same commit must not store it again
      left.delete(deviceId);
      unit.onRollback(() => {
        if (at === undefined || newer.has(deviceId)) return;
        newer.set(deviceId, at);
        ofAll.arm(gatherMs);
      });
      await deletePresence(unit, deviceId);
    },

    async [Symbol.asyncDispose](): Promise<void> {
      ofAll.disarm();
      ofLeft.disarm();
      await flush([...newer.keys()], 'now'); // at shutdown no other commit comes that this could join
      ofAll.disarm();
    },
  };
}
