import type { Database } from '../../platform/database/sql.ts';
import { objectKey, UPLOAD_SECONDS, type UploadTicket, uploadTicket } from './binary.ts';
import { findContent } from './binary-content-repository.ts';
import type { Digests } from './digests.ts';
import type { Inspection } from './inspection.ts';
import type { ObjectStore, StoredObject } from './object-store.ts';
import { requireVersion, type VersionName } from './ownership.ts';
import type { Quotas } from './quotas.ts';

interface Parts {
  database: Database;
  objects: ObjectStore;
  inspection: Inspection;
  digests: Pick<Digests, 'seen'>;
  quotas: Pick<Quotas, 'seen' | 'requireAnyRoom'>;
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
export function createBinaries({ database, objects, inspection, digests, quotas }: Parts) {
  return {
    /** Op 20; undefined without a binary. */
    async find(developerId: string, name: VersionName): Promise<Binary | undefined> {
      const version = await requireVersion(database.read, developerId, name);
      const stored = await objects.head(objectKey(version.binaryId));
      if (!stored) return undefined;
      inspection.seen(version, stored);
      digests.seen(version.binaryId, stored);
      if (stored.size !== version.storedBytes) await quotas.seen(version.binaryId, stored.size);
      const content = await findContent(database.read, version.binaryId, stored.etag);
      return { ...stored, inspected: content !== undefined, warning: content?.warning ?? null };
    },

    /** Op 21; nothing happens without a binary. */
    async remove(developerId: string, name: VersionName): Promise<void> {
      const { binaryId, storedBytes } = await requireVersion(database.read, developerId, name);
      await objects.remove(objectKey(binaryId));
      if (storedBytes > 0) await quotas.seen(binaryId, 0);
    },

    /**
     * Op 22. Neither length nor type is signed: any binary up to the limit of the store can be sent, while its developer has
     * any room. Throws QUOTA_EXCEEDED.
     */
    async uploadUrl(developerId: string, name: VersionName): Promise<UploadTicket> {
      const { binaryId } = await requireVersion(database.read, developerId, name);
      await quotas.requireAnyRoom(developerId);
      return uploadTicket(await objects.uploadUrl(objectKey(binaryId), { expiresIn: UPLOAD_SECONDS }));
    },
  };
}
