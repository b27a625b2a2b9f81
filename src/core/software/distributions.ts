import { DomainError } from '../../errors.ts';
import type { Database } from '../../platform/database/sql.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Inspection } from './inspection.ts';
import { requireVersion, type VersionName } from './ownership.ts';
import { permitApplication } from './package-repository.ts';
import { updateVersion } from './version-repository.ts';

interface Parts {
  database: Database;
  clock: Clock;
  inspection: Inspection;
}

/** Whether versions are distributed (ops 25 to 27). All throw PACKAGE_NOT_FOUND and VERSION_NOT_FOUND. */
export function createDistributions({ database, clock, inspection }: Parts) {
  return {
    /** Op 25: when it was started, in microseconds; null when it is not. */
    startedAt: async (developerId: string, name: VersionName): Promise<number | null> =>
      (await requireVersion(database.read, developerId, name)).distributionStartedAt,

    /** Op 26; the caller may distribute the package from then on, if it could not before. Throws DISTRIBUTION_STARTED. */
    start(caller: { developerId: string; applicationId: string }, name: VersionName): Promise<number> {
      return database.transact(async (unit) => {
        const known = await requireVersion(unit, caller.developerId, name, unit.forUpdate);
        if (known.distributionStartedAt !== null) throw new DomainError('DISTRIBUTION_STARTED');
        const distributionStartedAt = clock.now();
        await updateVersion(unit, 'software', { ...known, distributionStartedAt });
        await permitApplication(unit, name.package, caller.applicationId);
        unit.onCommit(() => inspection.look(known));
        return distributionStartedAt;
      });
    },

    /** Op 27; nothing happens when it is not started. What devices have installed stays (endpoint rule 11). */
    async stop(developerId: string, name: VersionName): Promise<void> {
      await database.transact(async (unit) => {
        const known = await requireVersion(unit, developerId, name, unit.forUpdate);
        await updateVersion(unit, 'software', { ...known, distributionStartedAt: null });
      });
    },
  };
}
