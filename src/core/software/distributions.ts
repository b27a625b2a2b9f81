import { DomainError } from '@lapel/schemas/contracts/errors';
import type { Database } from '../../platform/database/sql.ts';
import type { Clock } from '../../runtime/clock.ts';
import { objectKey } from './binary.ts';
import type { Inspection } from './inspection.ts';
import type { ObjectStore } from './object-store.ts';
import { requireVersion, type VersionName } from './ownership.ts';
import { permitApplication } from './package-repository.ts';
import { pinDistributed } from './signature-repository.ts';
import type { Trust } from './trust.ts';
import { updateVersion } from './version-repository.ts';

interface Parts {
  database: Database;
  clock: Clock;
  inspection: Inspection;
  objects: Pick<ObjectStore, 'head'>;
  trust: Trust;
  unavailable(): void;
}

/** The distribution of versions (ops 25 to 27). All methods throw PACKAGE_NOT_FOUND and VERSION_NOT_FOUND. */
export function createDistributions({ database, clock, inspection, objects, trust, unavailable }: Parts) {
  /**
   * Throws SIGNATURE_MISSING, SIGNATURE_INVALID, CERTIFICATE_CHANGED, CERTIFICATE_UNREADABLE. The object store is asked only where the file matters,
   * so that other distributions begin without it. Deliveries judge again.
   */
  async function requireTrusted(developerId: string, name: VersionName): Promise<void> {
    const version = await requireVersion(database.read, developerId, name);
    const demands = await trust.demands(developerId, version.binaryId);
    const stored = trust.needsFile(demands) ? await objects.head(objectKey(version.binaryId)) : undefined;
    const refusal = await trust.early(demands, version, stored);
    if (refusal) throw new DomainError(refusal.code, { values: refusal.values });
  }

  return {
    /** Reads when the distribution began (op 25), in microseconds; null when the version is not distributed. */
    startedAt: async (developerId: string, name: VersionName): Promise<number | null> =>
      (await requireVersion(database.read, developerId, name)).distributionStartedAt,

    /**
     * Begins a distribution (op 26). It also permits the caller's application to distribute the package. Throws
     * DISTRIBUTION_STARTED, SIGNATURE_MISSING, SIGNATURE_INVALID, CERTIFICATE_CHANGED, CERTIFICATE_UNREADABLE.
     */
    async start(caller: { developerId: string; applicationId: string }, name: VersionName): Promise<number> {
      await requireTrusted(caller.developerId, name);
      return database.transact(async (unit) => {
        const known = await requireVersion(unit, caller.developerId, name, unit.forUpdate);
        if (known.distributionStartedAt !== null) throw new DomainError('DISTRIBUTION_STARTED');
        const distributionStartedAt = clock.now();
        await updateVersion(unit, 'software', { ...known, distributionStartedAt });
        await pinDistributed(unit, known.binaryId);
        await permitApplication(unit, name.package, caller.applicationId);
        unit.onCommit(() => inspection.look(known));
        return distributionStartedAt;
      });
    },

    /**
     * Ends a distribution (op 27); succeeds when the version is not distributed. Installed versions stay on the devices
     * (endpoint rule 11).
     */
    async stop(developerId: string, name: VersionName): Promise<void> {
      await database.transact(async (unit) => {
        const known = await requireVersion(unit, developerId, name, unit.forUpdate);
        await updateVersion(unit, 'software', { ...known, distributionStartedAt: null });
        unit.onCommit(unavailable);
      });
    },
  };
}
