import type { Sql, UnitOfWork } from '../../platform/database/sql.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Millis } from '../../runtime/units.ts';
import { type Application, findApplication } from './application-repository.ts';

// A cached application takes about 1 KiB of memory. When the cache is full, its oldest entry is dropped.
const BOUND = 10_000;

interface Parts {
  clock: Pick<Clock, 'now'>;
  /** Milliseconds for which a cached application is used; Infinity: until this process changes it. */
  freshMs: Millis;
  /** Called when this process has changed an application, so that other nodes can drop it from their caches. */
  changed(applicationId: string): void;
  /**
   * Called when an application was dropped from the cache because it was changed, by this process or another one.
   * Without an `applicationId`, all were dropped.
   */
  forgotten(applicationId?: string): void;
}

/**
 * A cache of committed applications, because every request, submission and webhook attempt needs one, and they rarely
 * change. While a unit of work changes an application, every look-up of that application reads the database on the
 * caller's own connection. So a unit sees the changes of earlier units in the same commit, and other callers do not see
 * changes that may yet be rolled back.
 */
export function createApplicationCache({ clock, freshMs, changed, forgotten }: Parts) {
  const known = new Map<string, { application: Application; until: number }>();
  const changing = new Map<string, number>();
  // Rises with every change of an application. A read that began before a change compares it, so that an outdated row
  // is not cached.
  let version = 0;

  function forget(applicationId: string, step: 1 | -1): void {
    version += 1;
    known.delete(applicationId);
    const count = (changing.get(applicationId) ?? 0) + step;
    if (count > 0) changing.set(applicationId, count);
    else changing.delete(applicationId);
  }

  /** Drops from the cache an application that another process has changed; without an `applicationId`, drops all. */
  function forgetElsewhere(applicationId?: string): void {
    version += 1;
    if (applicationId === undefined) known.clear();
    else known.delete(applicationId);
    forgotten(applicationId);
  }

  return {
    async find(sql: Sql, applicationId: string): Promise<Application | undefined> {
      const found = known.get(applicationId);
      if (found && (found.until === Number.POSITIVE_INFINITY || found.until > clock.now())) return found.application;
      const before = version;
      const application = await findApplication(sql, applicationId);
      if (application && version === before && !changing.has(applicationId)) {
        if (known.size >= BOUND) for (const [first] of known.entries().take(1)) known.delete(first);
        known.set(applicationId, { application, until: clock.now() + freshMs * 1000 });
      }
      return application;
    },
    /**
     * Every unit of work that changes an application calls this: look-ups skip the cache until the unit ends, and the
     * commit drops the application from the caches.
     */
    changes(unit: UnitOfWork, applicationId: string): void {
      forget(applicationId, 1);
      unit.onCommit(() => {
        forget(applicationId, -1);
        changed(applicationId);
        forgotten(applicationId);
      });
      unit.onRollback(() => forget(applicationId, -1));
    },
    forgetElsewhere,
  };
}
