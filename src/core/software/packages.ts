import { DomainError } from '@lapel/schemas/contracts/errors';
import type { Database } from '../../platform/database/sql.ts';
import type { Clock } from '../../runtime/clock.ts';
import { requirePackage } from './ownership.ts';
import * as repository from './package-repository.ts';
import type { Quotas } from './quotas.ts';
import { requireUnreserved } from './reserved.ts';
import { hasVersions } from './version-repository.ts';

type Package = repository.Package;

interface Parts {
  database: Database;
  clock: Clock;
  quotas: Pick<Quotas, 'require' | 'count'>;
  /** LAPEL_RESERVED_PACKAGE_PREFIX: names that begin with it are reserved for the service. */
  reservedPrefix: string;
}

/**
 * The packages of developers (ops 12 to 15). `update` and `remove` throw PACKAGE_NOT_FOUND when the developer has no package
 * of that name.
 */
export function createPackages({ database, clock, quotas, reservedPrefix }: Parts) {
  return {
    find: (developerId: string, name: string): Promise<Package> => requirePackage(database.read, developerId, name),

    /** Op 12: lists packages by name. */
    list: (developerId: string, page: { offset: number; limit: number }) =>
      repository.listPackages(database.read, developerId, page),

    /**
     * Op 13: registers a package that every application of the developer may distribute. Throws REQUEST_INVALID (reserved),
     * PACKAGE_EXISTS, QUOTA_EXCEEDED.
     */
    async register(developerId: string, wanted: { package: string; displayName?: string | null }): Promise<Package> {
      requireUnreserved(wanted.package, reservedPrefix);
      const now = clock.now();
      const row = {
        package: wanted.package,
        developerId,
        displayName: wanted.displayName ?? null,
        createdAt: now,
        updatedAt: now,
      };
      return database.transact(async (unit) => {
        await quotas.require(unit, developerId, { packages: 1 });
        const inserted = await repository.insertPackage(unit, 'software', { ...row, forAll: true });
        if (!inserted) throw new DomainError('PACKAGE_EXISTS');
        await quotas.count(unit, developerId, { packages: 1 });
        return row;
      });
    },

    /** Op 14: changes the display name; null removes it, an empty patch changes nothing. */
    update(developerId: string, name: string, patch: { displayName?: string | null }): Promise<Package> {
      return database.transact(async (unit) => {
        const known = await requirePackage(unit, developerId, name, unit.forUpdate);
        if (patch.displayName === undefined) return known;
        const changed = { ...known, displayName: patch.displayName, updatedAt: clock.now() };
        await repository.updatePackage(unit, 'software', changed);
        return changed;
      });
    },

    /** Op 15: removes a package. Throws PACKAGE_IN_USE while it has versions. */
    async remove(developerId: string, name: string): Promise<void> {
      await database.transact(async (unit) => {
        await requirePackage(unit, developerId, name, unit.forUpdate);
        if (await hasVersions(unit, 'software', name)) throw new DomainError('PACKAGE_IN_USE');
        await repository.deletePackage(unit, 'software', name);
        await quotas.count(unit, developerId, { packages: -1 });
      });
    },
  };
}
