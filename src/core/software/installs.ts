import { DomainError } from '../../errors.ts';
import type { Database, Sql } from '../../platform/database/sql.ts';
import { objectKey } from './binary.ts';
import type { Catalogue } from './catalogue.ts';
import type { Digests } from './digests.ts';
import type { Inspection } from './inspection.ts';
import type { ObjectStore } from './object-store.ts';
import { requireServiceVersion, type VersionName } from './ownership.ts';
import { findPackage } from './package-repository.ts';
import { findVersion, type Version } from './version-repository.ts';

/** What is known of a version without asking the object store. */
interface Installable {
  /** Microseconds; null: not distributing. */
  distributionStartedAt: number | null;
  /** Of the binary, whether there is one or not. */
  binaryId: string;
  objectKey: string;
  /** The version, when its binary is an APK that can be looked into; firmware may be anything. */
  inspect: Version | undefined;
}

const toInstallable = (catalogue: Catalogue, version: Version): Installable => ({
  distributionStartedAt: version.distributionStartedAt,
  binaryId: version.binaryId,
  objectKey: objectKey(version.binaryId),
  inspect: catalogue === 'software' ? version : undefined,
});

interface Download {
  url: string;
  /** Microseconds. */
  expiresAt: number;
  /** Bytes. */
  size: number;
  /** Hexadecimal. */
  sha256: string;
}

interface Parts {
  database: Database;
  objects: ObjectStore;
  inspection: Inspection;
  digests: Pick<Digests, 'of' | 'known' | 'seen'>;
}

/** What an install (op 28) and a firmware update need: whether a version may be installed, and where devices get it. */
export function createInstalls({ database, objects, inspection, digests }: Parts) {
  return {
    /**
     * A version that applications of the developer can install (op 28): the developer's, or a system package's. Distributing
     * or not is for the caller to judge. Throws PACKAGE_NOT_FOUND, VERSION_NOT_FOUND.
     */
    async findInstallable(sql: Sql, developerId: string, name: VersionName): Promise<Installable> {
      const known = await findPackage(sql, 'software', name.package);
      if (!known || (known.developerId !== null && known.developerId !== developerId)) {
        throw new DomainError('PACKAGE_NOT_FOUND');
      }
      const version = await findVersion(sql, 'software', name.package, name.version);
      if (!version) throw new DomainError('VERSION_NOT_FOUND');
      return toInstallable('software', version);
    },

    /** A version of op 29's list. Throws PACKAGE_NOT_FOUND, VERSION_NOT_FOUND. */
    async findFirmware(sql: Sql, name: VersionName): Promise<Installable> {
      return toInstallable('firmware', await requireServiceVersion(sql, 'firmware', name));
    },

    /**
     * The last committed state of what an install names; undefined when it was removed, and when the name is another
     * developer's, or has gone to one since: devices never get what is not theirs.
     */
    async findCurrent(catalogue: Catalogue, name: VersionName, developerId: string): Promise<Installable | undefined> {
      const known = await findPackage(database.read, catalogue, name.package);
      if (!known || (known.developerId !== null && known.developerId !== developerId)) return undefined;
      const version = await findVersion(database.read, catalogue, name.package, name.version);
      return version && toInstallable(catalogue, version);
    },

    /** Whether there is a binary, by asking the object store. */
    async hasBinary(installable: Installable): Promise<boolean> {
      const stored = await objects.head(installable.objectKey);
      if (stored && installable.inspect) inspection.seen(installable.inspect, stored);
      if (stored) digests.seen(installable.binaryId, stored);
      return stored !== undefined;
    },

    /**
     * A fresh URL for a device, for so many seconds; undefined when there is no binary. The digest of one that was never
     * read is made first (a device that could not check what it downloads would be told less than the others): the
     * answer waits for it, or is `preparing`.
     */
    async download(
      installable: Installable,
      { expiresIn, waits }: { expiresIn: number; waits: boolean },
    ): Promise<Download | 'preparing' | undefined> {
      const stored = await objects.head(installable.objectKey);
      if (!stored) return undefined;
      const sha256 = await digests[waits ? 'of' : 'known'](installable.binaryId, stored);
      if (sha256 === undefined) return 'preparing';
      return { ...(await objects.downloadUrl(installable.objectKey, { expiresIn })), size: stored.size, sha256 };
    },
  };
}
