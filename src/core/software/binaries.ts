import type { Database } from '../../platform/database/sql.ts';
import { objectKey, UPLOAD_SECONDS, type UploadTicket, uploadTicket } from './binary.ts';
import { findContent } from './binary-content-repository.ts';
import type { Digests } from './digests.ts';
import type { Inspection } from './inspection.ts';
import type { ObjectStore, StoredObject } from './object-store.ts';
import { requireVersion, type VersionName } from './ownership.ts';
import type { Quotas } from './quotas.ts';
import { findCertificates } from './signature-repository.ts';
import type { SignatureState, Trust } from './trust.ts';

interface Parts {
  database: Database;
  objects: ObjectStore;
  inspection: Inspection;
  digests: Pick<Digests, 'known'>;
  trust: Pick<Trust, 'signatureState'>;
  quotas: Pick<Quotas, 'seen' | 'requireAnyRoom'>;
  unavailable(): void;
}

/** What is known of the binary of a version. */
export interface Binary {
  /** The file in the object store; undefined when there is none. */
  stored: StoredObject | undefined;
  /** The SHA-256 of the file; undefined without a file, and until it is computed. */
  sha256: string | undefined;
  /**
   * Whether the binary was inspected, and the warning that the inspection found; the warning is null when there is
   * none.
   */
  inspected: boolean;
  warning: string | null;
  /** The SHA-256 of the certificates in the file; empty until it was inspected, and when they could not be read. */
  certificates: string[];
  signature: SignatureState;
}

/**
 * The binaries of versions (ops 20 to 22). The object store is asked each time and its answer is not kept, because uploads
 * do not pass through the service. All methods throw PACKAGE_NOT_FOUND and VERSION_NOT_FOUND.
 */
export function createBinaries({ database, objects, inspection, digests, trust, quotas, unavailable }: Parts) {
  return {
    /** Reads the facts of a binary (op 20). */
    async find(developerId: string, name: VersionName): Promise<Binary> {
      const version = await requireVersion(database.read, developerId, name);
      const stored = await objects.head(objectKey(version.binaryId));
      if (!stored) {
        const signature = await trust.signatureState(developerId, version, undefined);
        return { stored, sha256: undefined, inspected: false, warning: null, certificates: [], signature };
      }
      inspection.seen(version, stored);
      const sha256 = await digests.known(version.binaryId, stored);
      if (stored.size !== version.storedBytes) await quotas.seen(version.binaryId, stored.size);
      const content = await findContent(database.read, version.binaryId, stored.etag);
      const found = await findCertificates(database.read, version.binaryId, stored.etag);
      return {
        stored,
        sha256,
        inspected: content !== undefined,
        warning: content?.warning ?? null,
        certificates: found === undefined || found === 'unread' ? [] : [...found],
        signature: await trust.signatureState(developerId, version, sha256),
      };
    },

    /** Removes a binary (op 21); succeeds when there is none. */
    async remove(developerId: string, name: VersionName): Promise<void> {
      const { binaryId, storedBytes } = await requireVersion(database.read, developerId, name);
      await objects.remove(objectKey(binaryId));
      if (storedBytes > 0) await quotas.seen(binaryId, 0);
      unavailable();
    },

    /**
     * Makes an upload URL for a binary (op 22). The signature of the URL covers no length and no type. So any binary up to
     * the store's limit can be sent while its developer has room for at least one byte. Throws QUOTA_EXCEEDED.
     */
    async uploadUrl(developerId: string, name: VersionName): Promise<UploadTicket> {
      const { binaryId } = await requireVersion(database.read, developerId, name);
      await quotas.requireAnyRoom(developerId);
      return uploadTicket(await objects.uploadUrl(objectKey(binaryId), { expiresIn: UPLOAD_SECONDS }));
    },
  };
}
