import type { Sql, UnitOfWork } from '../../platform/database/sql.ts';
import type { Clock } from '../../runtime/clock.ts';
import { type Application, findApplication } from './application-repository.ts';

// An application is about 1 KiB here. Above the bound the one that was read first goes.
const BOUND = 10_000;
/** Microseconds for which an application is believed to be as it was, where other processes change them too. */
const BELIEVED = 1_000_000;

interface Parts {
  clock: Pick<Clock, 'now'>;
  /** Other processes write to the database too. */
  concurrent: boolean;
  /** An application was changed here: others may remember it as it was. */
  changed(applicationId: string): void;
  /** One is not remembered any more, because it was changed, here or elsewhere; without a name, none is. */
  forgotten(applicationId?: string): void;
}

/**
 * Applications as committed: every request, submission and webhook attempt asks for one, and they hardly ever change.
 * While a unit of work changes an application, all questions for it go to the database on the asker's own connection,
 * so a unit sees what units before it in the same commit did, and nobody else sees what may yet be rolled back.
 */
export function createApplicationCache({ clock, concurrent, changed, forgotten }: Parts) {
  const known = new Map<string, { application: Application; until: number }>();
  const changing = new Map<string, number>();
  // Rises with every change, so that a read that was under way meanwhile is not remembered.
  let version = 0;

  function forget(applicationId: string, step: 1 | -1): void {
    version += 1;
    known.delete(applicationId);
    const count = (changing.get(applicationId) ?? 0) + step;
    if (count > 0) changing.set(applicationId, count);
    else changing.delete(applicationId);
  }

  /** The same for one that was changed elsewhere; without a name, for all. */
  function forgetElsewhere(applicationId?: string): void {
    version += 1;
    if (applicationId === undefined) known.clear();
    else known.delete(applicationId);
    forgotten(applicationId);
  }

  return {
    async find(sql: Sql, applicationId: string): Promise<Application | undefined> {
      const found = known.get(applicationId);
      if (found && (!concurrent || found.until > clock.now())) return found.application;
      const before = version;
      const application = await findApplication(sql, applicationId);
      if (application && version === before && !changing.has(applicationId)) {
        if (known.size >= BOUND) for (const [first] of known.entries().take(1)) known.delete(first);
        known.set(applicationId, {
          application,
          until: concurrent ? clock.now() + BELIEVED : Number.POSITIVE_INFINITY,
        });
      }
      return application;
    },
    /** To be called by every unit of work that changes an application. */
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
