import { DomainError } from '@lapel/schemas/contracts/errors';
import type { Metrics } from '../../metrics.ts';
import type { Database, UnitOfWork } from '../../platform/database/sql.ts';
import { binaryIdOf } from './binary.ts';
import { findPackage } from './package-repository.ts';
import { addUsage, findStoredVersion, findUsage, lockUsage, saveStoredBytes, type Usage } from './usage-repository.ts';

/** The limits of each developer; 0 means no limit. */
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
 * Bounds the disk space of a developer: packages, versions (with their descriptions), and bytes of binaries. Usage is counted
 * with each change, under a lock; of two concurrent changes of which only one fits, one is refused.
 */
export function createQuotas({ database, metrics, limits }: Parts) {
  function requireRoom(used: Usage, quota: keyof Usage, more: number): void {
    const limit = limits[quota];
    if (limit === 0 || used[quota] + more <= limit) return;
    metrics.quotaRefused.inc({ quota: quota === 'storedBytes' ? 'stored_bytes' : quota });
    const shown = quota === 'storedBytes' ? limit / GIBIBYTE : limit;
    throw new DomainError('QUOTA_EXCEEDED', { values: { limit: shown, what: NAMES[quota] } });
  }

  /** Finds the version of a binary, after locking its package. */
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

    /**
     * Checks the quotas before an addition, in its unit and before it writes; the package is locked earlier. Throws
     * QUOTA_EXCEEDED.
     */
    async require(unit: UnitOfWork, developerId: string, wanted: Partial<Usage>): Promise<void> {
      const used = await lockUsage(unit, developerId);
      for (const quota of QUOTAS) if (wanted[quota]) requireRoom(used, quota, wanted[quota]);
    },

    /** Counts an addition to a developer's usage, or a removal (a negative number). */
    count: addUsage,

    /**
     * Whether an upload of this size is within the developer's quota; if so, its bytes are counted. An upload that
     * replaces another counts only its growth.
     */
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

    /** Allows an upload of unknown size while at least one byte is left. Throws QUOTA_EXCEEDED. */
    async requireAnyRoom(developerId: string): Promise<void> {
      requireRoom(await findUsage(database.read, developerId), 'storedBytes', 1);
    },

    /** Counts the true size of a binary that was found in the store; 0 after its removal. */
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
