import { DomainError } from '@lapel/schemas/contracts/errors';
import { objectKey } from '../core/software/binary.ts';
import { findContent } from '../core/software/binary-content-repository.ts';
import type { Catalogue } from '../core/software/catalogue.ts';
import type { Digests } from '../core/software/digests.ts';
import type { Inspection } from '../core/software/inspection.ts';
import type { ObjectStore } from '../core/software/object-store.ts';
import * as packages from '../core/software/package-repository.ts';
import { findCertificates } from '../core/software/signature-repository.ts';
import type { SignatureState, Trust } from '../core/software/trust.ts';
import { findVersion, type Version, versionsBehind } from '../core/software/version-repository.ts';
import type { Database } from '../platform/database/sql.ts';
import { pageOf } from '../runtime/page.ts';

/** The most simultaneous requests to the object store for one page. */
const AT_ONCE = 8;

interface Parts {
  database: Pick<Database, 'read' | 'aside'>;
  objects: Pick<ObjectStore, 'head'>;
  inspection: Pick<Inspection, 'seen'>;
  digests: Pick<Digests, 'known'>;
  trust: Pick<Trust, 'signatureState'>;
}

/**
 * The stored binary of a version. A member is null while it is not known; all are null while the object store is
 * unavailable.
 */
interface FoundBinary {
  /** The size of the binary in bytes. */
  sizeBytes: number | null;
  /** The SHA-256 of the binary in hexadecimal. */
  sha256: string | null;
  foundPackage: string | null;
  foundVersion: string | null;
  /** The SHA-256 of the certificates of the APK. */
  certificates: string[];
  /** The state of the signature of the version. */
  signature: SignatureState;
}

export interface VersionSummary extends Version {
  binary: FoundBinary | null;
  /**
   * How the binary differs from the package and version that it was uploaded for, or why it cannot be read as an APK.
   * Null when nothing is wrong.
   */
  warning: string | null;
}

const NOT_KNOWN: FoundBinary = {
  sizeBytes: null,
  sha256: null,
  foundPackage: null,
  foundVersion: null,
  certificates: [],
  signature: 'unchecked',
};

function away(error: unknown): 'away' {
  if (error instanceof DomainError && error.code === 'OBJECT_STORE_UNAVAILABLE') return 'away';
  throw error;
}

export type SoftwareOverview = ReturnType<typeof createSoftwareOverview>;

/** A package and its position in the list of all packages. */
type PackagePlace = Pick<packages.PackageSummary, 'line' | 'package'>;

/** Lists the packages and versions of all developers, and those of the service itself. */
export function createSoftwareOverview({ database: { read, aside }, objects, inspection, digests, trust }: Parts) {
  async function summaryOf(
    { line, developerId }: Pick<packages.PackageSummary, 'line' | 'developerId'>,
    version: Version,
    store: { isAway: boolean },
  ): Promise<VersionSummary> {
    const { binaryId } = version;
    const stored = store.isAway ? 'away' : await objects.head(objectKey(binaryId)).catch(away);
    if (!stored) return { ...version, binary: null, warning: null };
    if (stored === 'away') {
      store.isAway = true; // while the store does not answer, it is not asked about the other versions of the page
      return { ...version, binary: NOT_KNOWN, warning: null };
    }
    // The first look at a binary starts the work of reading its manifest, so that the data is known at a later request.
    if (line === 'software') inspection.seen(version, stored);
    const [sha256, content, certificates] = await Promise.all([
      digests.known(binaryId, stored),
      findContent(read, binaryId, stored.etag),
      findCertificates(read, binaryId, stored.etag),
    ]);
    const signature = await trust.signatureState(developerId, version, sha256);
    const found = { foundPackage: content?.foundPackage ?? null, foundVersion: content?.foundVersionName ?? null };
    const known = certificates === undefined || certificates === 'unread' ? [] : [...certificates];
    const binary = { sizeBytes: stored.size, sha256: sha256 ?? null, ...found, certificates: known, signature };
    return { ...version, binary, warning: content?.warning ?? null };
  }

  /** Finds a package. Throws PACKAGE_NOT_FOUND. */
  async function find(line: Catalogue, name: string): Promise<packages.PackageSummary> {
    const found = await packages.findPackageSummary(read, line, name);
    if (!found) throw new DomainError('PACKAGE_NOT_FOUND');
    return found;
  }

  return {
    find,

    /** Lists a page of packages in the order of catalogue and name, with the cursor of the next page. */
    async list(query: { line?: Catalogue; developerId?: string; after?: PackagePlace; limit: number }) {
      const { limit, after = { line: '', package: '' }, ...filter } = query;
      const rows = await packages.listPackageSummaries(aside, { ...filter, after, limit: limit + 1 });
      return pageOf(rows, limit, (row) => row);
    },

    /** Finds packages whose name or display name contains a text. */
    search: (text: string, limit: number) => packages.searchPackages(aside, text, limit),

    /**
     * Lists a page of the versions of a package, newest first, with the cursor of the next page. Throws
     * PACKAGE_NOT_FOUND.
     */
    async versions(line: Catalogue, name: string, { after, limit }: { after?: string; limit: number }) {
      const owner = await find(line, name);
      const behind = await versionsBehind(read, line, name, { after, limit: limit + 1 });
      const { rows: page, next } = pageOf(behind, limit, (row) => row.version);
      const versions: VersionSummary[] = [];
      const store = { isAway: false };
      for (let start = 0; start < page.length; start += AT_ONCE) {
        const some = page.slice(start, start + AT_ONCE);
        versions.push(...(await Promise.all(some.map((version) => summaryOf(owner, version, store)))));
      }
      return { rows: versions, next };
    },

    /** Checks that a version exists. Throws PACKAGE_NOT_FOUND, VERSION_NOT_FOUND. */
    async requireVersion(line: Catalogue, name: string, version: string): Promise<void> {
      await find(line, name);
      if (!(await findVersion(read, line, name, version))) throw new DomainError('VERSION_NOT_FOUND');
    },
  };
}
