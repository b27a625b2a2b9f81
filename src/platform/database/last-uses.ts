import type { Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import type { Micros } from '../../runtime/units.ts';
import type { Database, UnitOfWork } from './sql.ts';

/** Microseconds: the last use of a secret is stored at most this often. */
const PRECISION = 60_000_000;
/** The most secrets whose last use is kept in memory; above it the oldest is dropped, and its use is stored once more. */
const KEPT = 10_000;

interface Parts {
  database: Pick<Database, 'transact'>;
  clock: Pick<Clock, 'now'>;
  log: Log;
}

/** Stores when secrets were last used, by their public names; nobody waits for it. */
export function createLastUses({ database, clock, log }: Parts) {
  /** By secret: the last use that was stored, or is being stored. */
  const stored = new Map<string, Micros>();

  return {
    /** Notes a use at this time. `lastUsedAt` is the stored one; `save` stores the new one, and has to find the secret. */
    note(secretId: string, lastUsedAt: Micros | null, save: (unit: UnitOfWork, at: Micros) => Promise<unknown>): void {
      const now = clock.now();
      if (now - Math.max(lastUsedAt ?? 0, stored.get(secretId) ?? 0) < PRECISION) return;
      stored.delete(secretId);
      stored.set(secretId, now);
      if (stored.size > KEPT) for (const oldest of stored.keys().take(1)) stored.delete(oldest);
      database
        .transact((unit) => save(unit, now), { pace: 'soon' })
        .catch((err: unknown) => log.warn({ err, secretId }, 'the last use of a secret could not be stored'));
    },
  };
}
