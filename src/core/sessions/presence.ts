import { isDatabaseAway } from '../../errors.ts';
import type { Database, Transact, UnitOfWork } from '../../platform/database/sql.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import { deletePresence, saveLastSeen } from './presence-repository.ts';

// What a crash can lose: so long after it was heard of, a device's time is on the disk.
const GATHER_MILLISECONDS = 60_000;
// Where other nodes are asked for it too: so much older it is there, and so seldom a device is written that goes on talking.
const AMONG_NODES_MILLISECONDS = 15_000;
// Devices that leave are written sooner, but together: a whole fleet can leave at once.
const LEFT_MILLISECONDS = 1_000;
const ROWS_PER_UNIT = 256;
// About 10 MB. Above it what is gathered is written at once.
const BOUND = 100_000;

interface Parts {
  database: Database;
  clock: Clock;
  log: Log;
}

export type Presence = ReturnType<typeof createPresence>;

/**
 * When devices were last heard of. Every packet of a device comes by here, so it costs no more than a place in a map:
 * what is newer than the database is kept in memory and written in batches. Whether a device is connected is nothing to
 * keep: the broker knows it, and after a crash nobody is.
 */
export function createPresence({ database, clock, log }: Parts) {
  const newer = new Map<string, number>();
  /** Those of them that have left. */
  const left = new Set<string>();
  const gather = database.concurrent ? AMONG_NODES_MILLISECONDS : GATHER_MILLISECONDS;
  const ofAll = createTimer(() => newer.keys());
  const ofLeft = createTimer(() => left.keys());
  let writing = false;

  /** Writes some of them after a time, the soonest that was asked for. */
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
            log.error({ err }, 'when devices were last seen could not be written; trying again');
          arm(gather);
        });
      });
    }
    return { arm, disarm, isArmed: (): boolean => cancel !== undefined };
  }

  async function flush(due: readonly string[], transact: Transact = database.transactSoon): Promise<void> {
    writing = true;
    try {
      for (let start = 0; start < due.length; start += ROWS_PER_UNIT) {
        // In one order, so that two of them never wait for each other.
        const deviceIds = due.slice(start, start + ROWS_PER_UNIT).sort();
        await transact((unit) => write(unit, deviceIds));
      }
    } finally {
      writing = false;
    }
  }

  async function write(unit: UnitOfWork, deviceIds: readonly string[]): Promise<void> {
    const heard: { deviceId: string; at: number }[] = [];
    for (const deviceId of deviceIds) {
      const at = newer.get(deviceId);
      if (at !== undefined) heard.push({ deviceId, at }); // else it was removed meanwhile
    }
    await saveLastSeen(unit, heard);
    unit.onCommit(() => {
      // Who has been heard of again stays.
      for (const { deviceId, at } of heard) {
        if (newer.get(deviceId) !== at) continue;
        newer.delete(deviceId);
        left.delete(deviceId);
      }
    });
  }

  return {
    /** A packet came from the device. */
    heard(deviceId: string): void {
      newer.set(deviceId, clock.now());
      if (!ofAll.isArmed()) ofAll.arm(gather);
      if (newer.size > BOUND && !writing) ofAll.arm(0);
    },

    /** The device's connection has ended. */
    left(deviceId: string): void {
      if (!newer.has(deviceId)) return;
      left.add(deviceId);
      ofLeft.arm(LEFT_MILLISECONDS);
    },

    /** Microseconds; undefined when the database has the newest. */
    newerThanStored: (deviceId: string): number | undefined => newer.get(deviceId),

    /** Forgets a device in the unit of work that removes it. */
    async remove(unit: UnitOfWork, deviceId: string): Promise<void> {
      const at = newer.get(deviceId);
      newer.delete(deviceId); // at once: a batch in the same commit must not write it again
      left.delete(deviceId);
      unit.onRollback(() => {
        if (at !== undefined && !newer.has(deviceId)) newer.set(deviceId, at);
      });
      await deletePresence(unit, deviceId);
    },

    async [Symbol.asyncDispose](): Promise<void> {
      ofAll.disarm();
      ofLeft.disarm();
      await flush([...newer.keys()], database.transact); // nobody else's commits come any more
      ofAll.disarm();
    },
  };
}
