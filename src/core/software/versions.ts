import { DomainError } from '@lapel/schemas/contracts/errors';
import type { Database, Sql } from '../../platform/database/sql.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Ids } from '../../runtime/ids.ts';
import { readVersionRange } from '../selection/version-range.ts';
import { objectKey } from './binary.ts';
import type { ObjectStore } from './object-store.ts';
import { forgetBinary } from './orphan-repository.ts';
import { requirePackage, requireVersion, type VersionName } from './ownership.ts';
import type { Quotas } from './quotas.ts';
import * as repository from './version-repository.ts';

type Version = repository.Version;

/** Changes of a version; null removes a member. */
export interface VersionPatch {
  description?: string | null;
  revertOf?: string | null;
  requires?: { firmwareVersion: string } | null;
}

interface Parts {
  database: Database;
  clock: Clock;
  ids: Ids;
  objects: ObjectStore;
  quotas: Pick<Quotas, 'require' | 'count'>;
}

/**
 * The versions of developers' packages (ops 16 to 19). All methods throw PACKAGE_NOT_FOUND and, with a version,
 * VERSION_NOT_FOUND.
 */
export function createVersions({ database, clock, ids, objects, quotas }: Parts) {
  return {
    find: (developerId: string, name: VersionName): Promise<Version> =>
      requireVersion(database.read, developerId, name),

    /** Op 16: lists versions, newest first. */
    async list(developerId: string, name: string, page: { offset: number; limit: number }) {
      await requirePackage(database.read, developerId, name);
      return repository.listVersions(database.read, 'software', name, page);
    },

    /** Op 17: registers a version. Throws VERSION_EXISTS, QUOTA_EXCEEDED, REQUEST_INVALID for a range that is none. */
    async register(
      developerId: string,
      name: string,
      wanted: { version: string } & Pick<VersionPatch, 'description' | 'requires'>,
    ): Promise<Version> {
      return database.transact(async (unit) => {
        await requirePackage(unit, developerId, name, unit.forUpdate);
        await quotas.require(unit, developerId, { versions: 1 });
        const row = newVersion({ package: name, version: wanted.version }, { clock, ids });
        const requiresFirmware = wanted.requires ? firmwareOf(wanted.requires) : null;
        const described = { ...row, description: wanted.description ?? null, requiresFirmware };
        const inserted = await repository.insertVersion(unit, 'software', described);
        if (!inserted) throw new DomainError('VERSION_EXISTS');
        await quotas.count(unit, developerId, { versions: 1 });
        return described;
      });
    },

    /**
     * Op 18: changes members of a version; null removes one, an empty patch changes nothing. Throws REQUEST_INVALID when the
     * package has no other version that it could revert, or for a range that is none.
     */
    update(developerId: string, name: VersionName, patch: VersionPatch): Promise<Version> {
      return database.transact(async (unit) => {
        const known = await requireVersion(unit, developerId, name, unit.forUpdate);
        const { description = known.description, revertOf = known.revertOf, requires } = patch;
        if (Object.values(patch).every((value) => value === undefined)) return known;
        if (patch.revertOf != null) await requireOther(unit, name, patch.revertOf);
        const requiresFirmware = requires === undefined ? known.requiresFirmware : requires && firmwareOf(requires);
        const changed = { ...known, description, revertOf, requiresFirmware, updatedAt: clock.now() };
        await repository.updateVersion(unit, 'software', changed);
        return changed;
      });
    },

    /** Op 19: removes a version. Throws VERSION_IN_USE while it has a binary or is distributed. */
    async remove(developerId: string, name: VersionName): Promise<void> {
      const seen = await requireVersion(database.read, developerId, name);
      const hasBinary = (await objects.head(objectKey(seen.binaryId))) !== undefined;
      await database.transact(async (unit) => {
        const known = await requireVersion(unit, developerId, name, unit.forUpdate);
        // The version was removed and registered again while the object store was asked, so the store's answer is about the
        // old one.
        if (known.binaryId !== seen.binaryId) throw new DomainError('VERSION_NOT_FOUND');
        if (hasBinary || known.distributionStartedAt !== null) throw new DomainError('VERSION_IN_USE');
        await repository.deleteVersion(unit, 'software', name.package, name.version);
        await forgetBinary(unit, known.binaryId);
        await quotas.count(unit, developerId, { versions: -1, storedBytes: -known.storedBytes });
      });
    },
  };
}

/** The range of firmware that a version requires. Throws REQUEST_INVALID. */
function firmwareOf({ firmwareVersion }: { firmwareVersion: string }): string {
  if (readVersionRange(firmwareVersion)) return firmwareVersion;
  const msg = 'Input should be a SemVer range, such as >=1.2.0 <2.0.0';
  throw DomainError.invalid({ loc: ['body', 'requires', 'firmwareVersion'], msg, type: 'string_pattern_mismatch' });
}

/** Checks that a package has another version of this name. Throws REQUEST_INVALID. */
async function requireOther(sql: Sql, name: VersionName, version: string): Promise<void> {
  if (version !== name.version && (await repository.findVersion(sql, 'software', name.package, version))) return;
  const msg = 'Input should be another version of the package';
  throw DomainError.invalid({ loc: ['body', 'revertOf'], msg, type: 'enum' });
}

/** A new version: without a binary, and not distributed. */
export function newVersion(name: VersionName, { clock, ids }: { clock: Clock; ids: Ids }): Version {
  const now = clock.now();
  const binaryId = ids.next('bin', now);
  return {
    ...name,
    description: null,
    binaryId,
    storedBytes: 0,
    distributionStartedAt: null,
    revertOf: null,
    requiresFirmware: null,
    createdAt: now,
    updatedAt: now,
  };
}
