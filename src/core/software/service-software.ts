import { DomainError } from '@lapel/schemas/contracts/errors';
import type { Database } from '../../platform/database/sql.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Ids } from '../../runtime/ids.ts';
import { type AvailableVersion, listServiceSoftware } from './available-repository.ts';
import { objectKey, UPLOAD_SECONDS, type UploadTicket, uploadTicket } from './binary.ts';
import type { Catalogue } from './catalogue.ts';
import type { ObjectStore } from './object-store.ts';
import { forgetBinary } from './orphan-repository.ts';
import { requireServiceVersion, type VersionName } from './ownership.ts';
import { deletePackage, findOrInsertPackage, updatePackage } from './package-repository.ts';
import { deleteVersion, findVersion, hasVersions, insertVersion, updateVersion } from './version-repository.ts';
import { newVersion } from './versions.ts';

interface Parts {
  database: Database;
  clock: Clock;
  ids: Ids;
  objects: ObjectStore;
  catalogue: Catalogue;
  unavailable(): void;
}

/**
 * The software of the service itself in one catalogue: system packages or firmware (administration; contract, section 5). A
 * version is distributed from its registration on.
 */
export function createServiceSoftware({ database, clock, ids, objects, catalogue, unavailable }: Parts) {
  return {
    /** Lists by package, newest version first. */
    list: (page: { offset: number; limit: number }) => listServiceSoftware(database.read, catalogue, page),

    /**
     * Registers package and version if they are missing, and changes the texts in the patch; null removes one. Throws
     * PACKAGE_EXISTS for a developer's package.
     */
    put(
      name: VersionName,
      patch: { displayName?: string | null; description?: string | null },
    ): Promise<AvailableVersion> {
      return database.transact(async (unit) => {
        const now = clock.now();
        const made = { package: name.package, developerId: null, displayName: null, createdAt: now, updatedAt: now };
        const known = await findOrInsertPackage(unit, catalogue, { ...made, forAll: true });
        if (known.developerId !== null) throw new DomainError('PACKAGE_EXISTS');
        const displayName = patch.displayName === undefined ? known.displayName : patch.displayName;
        if (displayName !== known.displayName) await updatePackage(unit, catalogue, { ...made, displayName });

        const registered = await findVersion(unit, catalogue, name.package, name.version);
        const before = registered ?? newVersion(name, { clock, ids });
        const description = patch.description === undefined ? before.description : patch.description;
        const version = { ...before, description };
        if (!registered) {
          version.distributionStartedAt = version.createdAt;
          await insertVersion(unit, catalogue, version);
        } else if (description !== registered.description) {
          version.updatedAt = now;
          await updateVersion(unit, catalogue, version);
        }
        return { ...version, displayName };
      });
    },

    /**
     * Removes the binary and the version, and the package with its last version. Throws PACKAGE_NOT_FOUND,
     * VERSION_NOT_FOUND.
     */
    async remove(name: VersionName): Promise<void> {
      // The object is removed first, so that if the store fails, the version still exists and can be removed again.
      const { binaryId } = await requireServiceVersion(database.read, catalogue, name);
      await objects.remove(objectKey(binaryId));
      await database.transact(async (unit) => {
        const known = await requireServiceVersion(unit, catalogue, name, unit.forUpdate);
        await deleteVersion(unit, catalogue, name.package, name.version);
        await forgetBinary(unit, known.binaryId);
        if (!(await hasVersions(unit, catalogue, name.package))) await deletePackage(unit, catalogue, name.package);
        unit.onCommit(unavailable);
      });
    },

    /** Makes an upload URL, as op 22 does. Throws PACKAGE_NOT_FOUND, VERSION_NOT_FOUND. */
    async uploadUrl(name: VersionName): Promise<UploadTicket> {
      const { binaryId } = await requireServiceVersion(database.read, catalogue, name);
      return uploadTicket(await objects.uploadUrl(objectKey(binaryId), { expiresIn: UPLOAD_SECONDS }));
    },
  };
}
