import { DomainError } from '@lapel/schemas/contracts/errors';
import type { Database, Sql } from '../../platform/database/sql.ts';
import type { Micros } from '../../runtime/units.ts';
import { objectKey } from './binary.ts';
import type { Catalogue } from './catalogue.ts';
import type { Digests } from './digests.ts';
import type { Inspection } from './inspection.ts';
import type { ObjectStore } from './object-store.ts';
import { requireServiceVersion, type VersionName } from './ownership.ts';
import { findPackage } from './package-repository.ts';
import type { Refusal, Trust } from './trust.ts';
import { findVersion, type Version } from './version-repository.ts';

/** The properties of a version that the database has, without asking the object store. */
interface Installable {
  /** The time at which the distribution was started, in microseconds; null when the version is not distributed. */
  distributionStartedAt: Micros | null;
  /** The firmware that a device must have reported, as a SemVer range. */
  requiresFirmware: string | null;
  /** The identifier of the binary, whether one was uploaded or not. */
  binaryId: string;
  objectKey: string;
  /** The version, if its binary is an APK that can be inspected; undefined for firmware, which can be any file. */
  inspect: Version | undefined;
  /** The developer whose rules for signatures hold; null for the service's own software. */
  judgedBy: string | null;
}

const toInstallable = (catalogue: Catalogue, version: Version, judgedBy: string | null): Installable => ({
  distributionStartedAt: version.distributionStartedAt,
  requiresFirmware: version.requiresFirmware,
  binaryId: version.binaryId,
  objectKey: objectKey(version.binaryId),
  inspect: catalogue === 'software' ? version : undefined,
  judgedBy,
});

interface Download {
  url: string;
  expiresAt: Micros;
  /** Bytes. */
  size: number;
  /** The SHA-256 of the binary, hexadecimal. */
  sha256: string;
  /** The signature of the version (base64) and its key, for devices that verify it. */
  signature?: string;
  signatureKeyId?: string;
}

/** The reason why a version cannot be installed: an error of the API. */
export type Obstacle = Refusal | { code: 'BINARY_MISSING'; values: Record<string, never> };
export const NO_BINARY: Obstacle = { code: 'BINARY_MISSING', values: {} };

interface Parts {
  database: Database;
  objects: ObjectStore;
  inspection: Inspection;
  digests: Pick<Digests, 'of' | 'known' | 'seen'>;
  trust: Trust;
}

/** Checks for an install (op 28) or a firmware update whether a version may be installed, and makes the download URL. */
export function createInstalls({ database, objects, inspection, digests, trust }: Parts) {
  return {
    /**
     * Finds a version that applications of the developer can install (op 28): the developer's, or a system package's. The
     * caller checks whether it is distributed. Throws PACKAGE_NOT_FOUND, VERSION_NOT_FOUND.
     */
    async findInstallable(sql: Sql, developerId: string, name: VersionName): Promise<Installable> {
      const known = await findPackage(sql, 'software', name.package);
      if (!known || (known.developerId !== null && known.developerId !== developerId)) {
        throw new DomainError('PACKAGE_NOT_FOUND');
      }
      const version = await findVersion(sql, 'software', name.package, name.version);
      if (!version) throw new DomainError('VERSION_NOT_FOUND');
      return toInstallable('software', version, known.developerId);
    },

    /** Finds a version of firmware, as op 29 lists them. Throws PACKAGE_NOT_FOUND, VERSION_NOT_FOUND. */
    async findFirmware(sql: Sql, name: VersionName): Promise<Installable> {
      return toInstallable('firmware', await requireServiceVersion(sql, 'firmware', name), null);
    },

    /**
     * Finds the version of an install as it is now. Undefined when it was removed, or when its name belongs to another
     * developer, since devices must never get the software of others.
     */
    async findCurrent(catalogue: Catalogue, name: VersionName, developerId: string): Promise<Installable | undefined> {
      const known = await findPackage(database.read, catalogue, name.package);
      if (!known || (known.developerId !== null && known.developerId !== developerId)) return undefined;
      const version = await findVersion(database.read, catalogue, name.package, name.version);
      return version && toInstallable(catalogue, version, known.developerId);
    },

    /**
     * Asks the object store whether there is a binary, and judges its signature. Returns the reason why the version cannot
     * be installed now; each delivery judges again.
     */
    async obstacle(installable: Installable): Promise<Obstacle | undefined> {
      const stored = await objects.head(installable.objectKey);
      if (stored && installable.inspect) inspection.seen(installable.inspect, stored);
      if (stored) digests.seen(installable.binaryId, stored);
      if (!stored) return NO_BINARY;
      const { inspect, judgedBy, binaryId } = installable;
      return inspect && trust.early(await trust.demands(judgedBy, binaryId), inspect, stored);
    },

    /**
     * Makes a URL for a device that is valid for `expiresIn` seconds; undefined when there is no binary. A missing digest is
     * computed first, because every device must be able to check its download: with `waits` the method waits for it,
     * without it the answer is `preparing`. A version that its developer does not vouch for is refused.
     */
    async download(
      installable: Installable,
      { expiresIn, waits }: { expiresIn: number; waits: boolean },
    ): Promise<Download | Refusal | 'preparing' | undefined> {
      const stored = await objects.head(installable.objectKey);
      if (!stored) return undefined;
      const sha256 = await digests[waits ? 'of' : 'known'](installable.binaryId, stored);
      if (sha256 === undefined) return 'preparing';
      const { inspect, judgedBy, binaryId } = installable;
      const demands = await trust.demands(judgedBy, binaryId);
      const refusal = inspect && (await trust.final(demands, inspect, { stored, sha256, waits }));
      if (refusal) return refusal;
      const { signature } = demands;
      return {
        ...(await objects.downloadUrl(installable.objectKey, { expiresIn })),
        size: stored.size,
        sha256,
        ...(signature && { signature: signature.signature, signatureKeyId: signature.keyId }),
      };
    },
  };
}
