import { DomainError } from '../../errors.ts';
import type { Metrics } from '../../metrics.ts';
import type { Database, UnitOfWork } from '../../platform/database/sql.ts';
import { binaryIdOf } from './binary.ts';
import { findPackage } from './package-repository.ts';
import { addUsage, findStoredVersion, findUsage, lockUsage, saveStoredBytes, type Usage } from './usage-repository.ts';

/** What each developer may have; 0 is no limit. */
export type QuotaLimits = Usage;

interface Parts {
  database: Database;
  metrics: Pick<Metrics, 'quotaRefused'>;
  /** LAPEL_DEVELOPER_PACKAGES, LAPEL_DEVELOPER_VERSIONS, LAPEL_DEVELOPER_STORED_GIB. */
  limits: QuotaLimits;
}

export type Quotas = ReturnType<typeof createQuotas>;

const GIBIBYTE = 1024 ** 3;
const QUOTAS = ['packages', 'versions', 'storedBytes'] as const;
const NAMES = { packages: 'packages', versions: 'versions', storedBytes: 'GiB of binaries' } as const;

/**
 * How much of the disk a developer may take: packages, versions (with their descriptions), bytes of binaries. It is counted
 * along with each change, under a lock: of two at once that would both fit alone, one is refused.
 */
export function createQuotas({ database, metrics, limits }: Parts) {
  function requireRoom(used: Usage, quota: keyof Usage, more: number): void {
    const limit = limits[quota];
    if (limit === 0 || used[quota] + more <= limit) return;
    metrics.quotaRefused.inc({ quota: quota === 'storedBytes' ? 'stored_bytes' : quota });
    const shown = quota === 'storedBytes' ? limit / GIBIBYTE : limit;
    throw new DomainError('QUOTA_EXCEEDED', { values: { limit: shown, what: NAMES[quota] } });
  }

  /** The version of a binary, its package locked first. */
  async function lockVersion(unit: UnitOfWork, binaryId: string) {
    const seen = await findStoredVersion(unit, binaryId);
    if (!seen) return undefined;
    await findPackage(unit, 'software', seen.package, unit.forUpdate);
    return findStoredVersion(unit, binaryId);
  }

  async function reserve(unit: UnitOfWork, binaryId: string, bytes: number): Promise<void> {
    const version = await lockVersion(unit, binaryId);
    if (!version || bytes <= version.storedBytes) return;
    requireRoom(await lockUsage(unit, version.developerId), 'storedBytes', bytes - version.storedBytes);
    await saveStoredBytes(unit, version, bytes);
  }

  return {
    limits,
    usageOf: (developerId: string): Promise<Usage> => findUsage(database.read, developerId),

    /** Before so many more come, in their unit and before it writes; a package is locked before. Throws QUOTA_EXCEEDED. */
    async require(unit: UnitOfWork, developerId: string, wanted: Partial<Usage>): Promise<void> {
      const used = await lockUsage(unit, developerId);
      for (const quota of QUOTAS) if (wanted[quota]) requireRoom(used, quota, wanted[quota]);
    },

    /** Some have come, or gone. */
    count: addUsage,

    /** Whether an upload of so many bytes may come under a key, which is counted then; one in the place of another takes what it is larger. */
    async admits(key: string, bytes: number): Promise<boolean> {
      const binaryId = binaryIdOf(key);
      if (binaryId === undefined || limits.storedBytes === 0) return true;
      try {
        await database.transact((unit) => reserve(unit, binaryId, bytes));
        return true;
      } catch (error) {
        if (error instanceof DomainError && error.code === 'QUOTA_EXCEEDED') return false;
        throw error;
      }
    },

    /** An upload of unknown size may begin while there is any room. Throws QUOTA_EXCEEDED. */
    async requireAnyRoom(developerId: string): Promise<void> {
      requireRoom(await findUsage(database.read, developerId), 'storedBytes', 1);
    },

    /** A binary was seen to be so large; 0: it was removed. Nobody waits for it. */
    async seen(binaryId: string, bytes: number): Promise<void> {
      const known = await findStoredVersion(database.read, binaryId);
      if (!known || known.storedBytes === bytes) return;
      await database.transact(async (unit) => {
        const version = await lockVersion(unit, binaryId);
        if (version) await saveStoredBytes(unit, version, bytes);
      });
    },
  };
}
