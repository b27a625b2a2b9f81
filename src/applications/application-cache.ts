import type { Sql, UnitOfWork } from '../database/sql.ts';
import { type Application, findApplication } from './application-repository.ts';

// An application is about 1 KiB here. Above the bound the one that was read first goes.
const BOUND = 10_000;

/**
 * Applications as committed: every request, submission and webhook attempt asks for one, and they hardly ever change.
 * While a unit of work changes an application, all questions for it go to the database on the asker's own connection,
 * so a unit sees what units before it in the same commit did, and nobody else sees what may yet be rolled back.
 */
export function createApplicationCache() {
  const known = new Map<string, Application>();
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

  return {
    async find(sql: Sql, applicationId: string): Promise<Application | undefined> {
      const found = known.get(applicationId);
      if (found) return found;
      const before = version;
      const application = await findApplication(sql, applicationId);
      if (application && version === before && !changing.has(applicationId)) {
        if (known.size >= BOUND) for (const [first] of known.entries().take(1)) known.delete(first);
        known.set(applicationId, application);
      }
      return application;
    },
    /** To be called by every unit of work that changes an application. */
    changes(unit: UnitOfWork, applicationId: string): void {
      forget(applicationId, 1);
      unit.onCommit(() => forget(applicationId, -1));
      unit.onRollback(() => forget(applicationId, -1));
    },
  };
}
