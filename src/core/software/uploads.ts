import { DomainError } from '@lapel/schemas/contracts/errors';
import type { Database } from '../../platform/database/sql.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Ids } from '../../runtime/ids.ts';
import { objectKey, UPLOAD_SECONDS, type UploadTicket, uploadTicket } from './binary.ts';
import type { ObjectStore } from './object-store.ts';
import { findOrInsertPackage, findPackage, permitApplication } from './package-repository.ts';
import type { Quotas } from './quotas.ts';
import { requireUnreserved } from './reserved.ts';
import { setStoredBytes } from './usage-repository.ts';
import { findVersion, insertVersion } from './version-repository.ts';
import { newVersion } from './versions.ts';

interface Parts {
  database: Database;
  clock: Clock;
  ids: Ids;
  objects: ObjectStore;
  quotas: Pick<Quotas, 'require' | 'count'>;
  reservedPrefix: string;
}

export interface Upload extends UploadTicket {
  appFileExists: boolean;
  chunkPartSize: number;
  uploadId: null;
}

/**
 * Op 23: registers package and version if they are missing, permits the calling application to distribute them, and makes
 * an upload URL for a binary of exactly `fileSize` bytes. Throws REQUEST_INVALID (reserved), PACKAGE_FOREIGN, QUOTA_EXCEEDED.
 */
export function createUploads({ database, clock, ids, objects, quotas, reservedPrefix }: Parts) {
  return async function upload(
    caller: { developerId: string; applicationId: string },
    wanted: { package: string; version: string; fileSize: number },
  ): Promise<Upload> {
    const { package: name, version, fileSize } = wanted;
    requireUnreserved(name, reservedPrefix);
    const { developerId } = caller;
    const binaryId = await database.transact(async (unit) => {
      const now = clock.now();
      const made = { package: name, developerId, displayName: null, createdAt: now, updatedAt: now, forAll: false };
      const before = await findPackage(unit, 'software', name, unit.forUpdate);
      if (before && before.developerId !== developerId) throw new DomainError('PACKAGE_FOREIGN');
      const registered = before && (await findVersion(unit, 'software', name, version));
      const wanted = {
        packages: before ? 0 : 1,
        versions: registered ? 0 : 1,
        storedBytes: Math.max(0, fileSize - (registered?.storedBytes ?? 0)),
      };
      await quotas.require(unit, developerId, wanted);
      const known = before ?? (await findOrInsertPackage(unit, 'software', made));
      if (known.developerId !== developerId) throw new DomainError('PACKAGE_FOREIGN');
      await quotas.count(unit, developerId, { ...wanted, packages: known === made ? 1 : 0 });
      await permitApplication(unit, name, caller.applicationId);
      const row = registered ?? newVersion({ package: name, version }, { clock, ids });
      const storedBytes = row.storedBytes + wanted.storedBytes;
      if (!registered) await insertVersion(unit, 'software', { ...row, storedBytes });
      else if (wanted.storedBytes > 0) await setStoredBytes(unit, row, storedBytes);
      return row.binaryId;
    });
    const key = objectKey(binaryId);
    const appFileExists = (await objects.head(key)) !== undefined;
    const ticket = uploadTicket(await objects.uploadUrl(key, { contentLength: fileSize, expiresIn: UPLOAD_SECONDS }));
    return { ...ticket, appFileExists, chunkPartSize: fileSize, uploadId: null };
  };
}
