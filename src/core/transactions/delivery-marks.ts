import { isDatabaseAway } from '@lapel/schemas/contracts/errors';
import type { Database, UnitOfWork } from '../../platform/database/sql.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import type { Micros } from '../../runtime/units.ts';
import type { Watch } from '../../runtime/watch.ts';
import { answerBy } from './terms.ts';
import { markCancelDelivered, markDelivered } from './transaction-repository.ts';

// Most devices answer a command within this time. Then the UPDATE that stores the answer also stores the time of the
// PUBACK.
const GATHER_MS = 20;
const RETRY_MS = 1000;

const inOrder = (ids: Iterable<number>): number[] => [...ids].sort((a, b) => a - b);

interface Parts {
  database: Database;
  clock: Clock;
  log: Log;
  watch: Watch;
  /** Called after the commit of marks with the time at which the first of their transactions may have to be ended. */
  endsAt(at: Micros): void;
}

/** The time of a PUBACK, and the seconds from it in which the device must answer. */
interface Mark {
  deviceId: string;
  at: Micros;
  answerWithin: number | null;
}

/**
 * Stores the times of PUBACKs of commands ("marks"). A mark waits for a moment in memory, because the device's answer
 * usually follows, and the UPDATE that stores the answer can then store the mark as well. A mark that is lost in a
 * crash does no harm: at its next connection the device gets every unfinished command again anyway.
 */
export function createDeliveryMarks({ database, clock, log, watch, endsAt }: Parts) {
  const delivered = new Map<number, Mark>();
  /** The transactions whose cancels were delivered, with their devices. */
  const cancelled = new Map<number, string>();
  let armed = false;

  const arm = (milliseconds: number): void => {
    if (armed) return;
    armed = true;
    clock.after(milliseconds, () => {
      armed = false;
      flush().catch((err: unknown) => {
        if (!isDatabaseAway(err)) log.error({ err }, 'delivery marks could not be written; trying again');
        arm(RETRY_MS);
      });
    });
  };

  /** Takes entries out of memory, until the unit is rolled back. The others were stored meanwhile. */
  function takeFrom<Entry>(unit: UnitOfWork, from: Map<number, Entry>, ids: readonly number[]): [number, Entry][] {
    const taken = ids.flatMap((id): [number, Entry][] => {
      const entry = from.get(id);
      return entry === undefined ? [] : [[id, entry]];
    });
    for (const [id] of taken) from.delete(id);
    unit.onRollback(() => {
      for (const [id, entry] of taken) from.set(id, entry); // the first one counts
      arm(RETRY_MS); // a unit can be rolled back long after the wait for it was given up
    });
    return taken;
  }

  async function write(unit: UnitOfWork, marked: readonly number[], cancels: readonly number[]): Promise<void> {
    // All units lock the rows in the same order, because two units with different orders could wait for each other.
    const marks = takeFrom(unit, delivered, inOrder(marked));
    for (const [id, { at }] of marks) markDelivered(unit, id, at);
    for (const [id] of takeFrom(unit, cancelled, inOrder(cancels))) markCancelDelivered(unit, id);
    unit.onCommit(() => {
      for (const [, { at, answerWithin }] of marks) {
        const by = answerBy({ deliveredAt: at, answerWithin });
        if (by !== null) endsAt(by);
      }
      if (watch.transactions > 0) for (const [id] of marks) watch.transaction(id);
    });
  }

  async function flush(): Promise<void> {
    if (delivered.size === 0 && cancelled.size === 0) return;
    if (!database.sideBySide) {
      await database.transact((unit) => write(unit, [...delivered.keys()], [...cancelled.keys()]), { pace: 'along' });
      return;
    }
    // An answer of the device may be stored at the same time, so each device has a unit under its lock.
    const marked = Map.groupBy(delivered.keys(), (id) => delivered.get(id)?.deviceId ?? '');
    const cancels = Map.groupBy(cancelled.keys(), (id) => cancelled.get(id) ?? '');
    const devices = new Set([...marked.keys(), ...cancels.keys()]);
    await Promise.all(
      Array.from(devices, (deviceId) =>
        database.transact((unit) => write(unit, marked.get(deviceId) ?? [], cancels.get(deviceId) ?? []), {
          device: deviceId,
          pace: 'along',
        }),
      ),
    );
  }

  /** Takes a transaction's mark out of memory, for a unit of work that stores it together with another change. */
  function take(unit: UnitOfWork, transactionId: number): number | null {
    const mark = delivered.get(transactionId);
    if (mark === undefined) return null;
    delivered.delete(transactionId);
    unit.onRollback(() => {
      delivered.set(transactionId, mark);
      arm(RETRY_MS);
    });
    return mark.at;
  }

  return {
    delivered(deviceId: string, transactionId: number, answerWithin: number | null): void {
      // A command that came again was delivered by its first PUBACK, which a slow database may not have yet.
      if (!delivered.has(transactionId)) delivered.set(transactionId, { deviceId, at: clock.now(), answerWithin });
      arm(GATHER_MS);
    },
    cancelDelivered(deviceId: string, transactionId: number): void {
      cancelled.set(transactionId, deviceId);
      arm(GATHER_MS);
    },
    take,
    /** Takes a transaction's mark like `take`. Returns the time of its first delivery; null without one. */
    firstOf(unit: UnitOfWork, record: { transactionId: number; deliveredAt: Micros | null }): Micros | null {
      const at = take(unit, record.transactionId);
      return record.deliveredAt ?? at;
    },
    /**
     * Stores the marks of a device that wait in memory, in the unit of work that reads its commands for a new connection.
     * Otherwise a command that a pause, or the end of its time, holds back until its PUBACK is passed over, and nobody
     * moves it when the mark is stored a moment later.
     */
    async storeOf(unit: UnitOfWork, deviceId: string): Promise<void> {
      const marked = Array.from(delivered).filter(([, mark]) => mark.deviceId === deviceId);
      const cancels = Array.from(cancelled).filter(([, of]) => of === deviceId);
      if (marked.length + cancels.length > 0)
        await write(
          unit,
          marked.map(([id]) => id),
          cancels.map(([id]) => id),
        );
    },
    /** Stores the marks that wait in memory. */
    flush,
  };
}
