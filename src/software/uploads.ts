import type { Clock } from '../clock.ts';
import type { Database } from '../database/sql.ts';
import { DomainError } from '../errors.ts';
import type { Ids } from '../ids.ts';
import { objectKey, UPLOAD_SECONDS, type UploadTicket, uploadTicket } from './binary.ts';
import type { ObjectStore } from './object-store.ts';
import { findOrInsertPackage, permitApplication } from './package-repository.ts';
import { requireUnreserved } from './reserved.ts';
import { findVersion, insertVersion } from './version-repository.ts';
import { newVersion } from './versions.ts';

interface Parts {
  database: Database;
  clock: Clock;
  ids: Ids;
  objects: ObjectStore;
  reservedPrefix: string;
}

export interface Upload extends UploadTicket {
  appFileExists: boolean;
  chunkPartSize: number;
  uploadId: null;
}

/**
 * Op 23: registers package and version when missing, permits the calling application to distribute them, and makes an
 * upload URL for a binary of exactly so many bytes. Throws REQUEST_INVALID (reserved), PACKAGE_FOREIGN.
 */
export function createUploads({ database, clock, ids, objects, reservedPrefix }: Parts) {
  return async function upload(
    caller: { developerId: string; applicationId: string },
    wanted: { package: string; version: string; fileSize: number },
  ): Promise<Upload> {
    const { package: name, version, fileSize } = wanted;
    requireUnreserved(name, reservedPrefix);
    const { developerId } = caller;
    const binaryId = await database.transact(async (unit) => {
      const now = clock.now();
      const made = { package: name, developerId, displayName: null, createdAt: now, updatedAt: now };
      const known = await findOrInsertPackage(unit, 'software', { ...made, forAll: false });
      if (known.developerId !== developerId) throw new DomainError('PACKAGE_FOREIGN');
      await permitApplication(unit, name, caller.applicationId);
      const registered = await findVersion(unit, 'software', name, version);
      if (registered) return registered.binaryId;
      const row = newVersion({ package: name, version }, { clock, ids });
      await insertVersion(unit, 'software', row);
      return row.binaryId;
    });
    const key = objectKey(binaryId);
    const appFileExists = (await objects.head(key)) !== undefined;
    const ticket = uploadTicket(await objects.uploadUrl(key, { contentLength: fileSize, expiresIn: UPLOAD_SECONDS }));
    return { ...ticket, appFileExists, chunkPartSize: fileSize, uploadId: null };
  };
}
