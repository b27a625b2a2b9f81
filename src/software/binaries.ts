import type { Database } from '../database/sql.ts';
import { objectKey, UPLOAD_SECONDS, type UploadTicket, uploadTicket } from './binary.ts';
import { findContent } from './binary-content-repository.ts';
import type { Digests } from './digests.ts';
import type { Inspection } from './inspection.ts';
import type { ObjectStore, StoredObject } from './object-store.ts';
import { requireVersion, type VersionName } from './ownership.ts';

interface Parts {
  database: Database;
  objects: ObjectStore;
  inspection: Inspection;
  digests: Pick<Digests, 'seen'>;
}

interface Binary extends StoredObject {
  /** Somebody has looked into it, and what is wrong with it; null when nothing is, or nobody has looked. */
  inspected: boolean;
  warning: string | null;
}

/**
 * The binaries of versions (ops 20 to 22). The object store is asked each time and its answer never kept: uploads go
 * past the service. All throw PACKAGE_NOT_FOUND and VERSION_NOT_FOUND.
 */
export function createBinaries({ database, objects, inspection, digests }: Parts) {
  const keyOf = async (developerId: string, name: VersionName): Promise<string> =>
    objectKey((await requireVersion(database.read, developerId, name)).binaryId);
  return {
    /** Op 20; undefined without a binary. */
    async find(developerId: string, name: VersionName): Promise<Binary | undefined> {
      const version = await requireVersion(database.read, developerId, name);
      const stored = await objects.head(objectKey(version.binaryId));
      if (!stored) return undefined;
      inspection.seen(version, stored);
      digests.seen(version.binaryId, stored);
      const content = await findContent(database.read, version.binaryId, stored.etag);
      return { ...stored, inspected: content !== undefined, warning: content?.warning ?? null };
    },

    /** Op 21; nothing happens without a binary. */
    remove: async (developerId: string, name: VersionName): Promise<void> =>
      objects.remove(await keyOf(developerId, name)),

    /** Op 22. Neither length nor type is signed: any binary up to the limit of the store can be sent. */
    uploadUrl: async (developerId: string, name: VersionName): Promise<UploadTicket> =>
      uploadTicket(await objects.uploadUrl(await keyOf(developerId, name), { expiresIn: UPLOAD_SECONDS })),
  };
}
