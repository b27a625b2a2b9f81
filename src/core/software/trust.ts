import { isGenuine } from '@lapel/schemas/base/software-key';
import type { Database } from '../../platform/database/sql.ts';
import type { Digests } from './digests.ts';
import type { Inspection } from './inspection.ts';
import type { StoredObject } from './object-store.ts';
import type { VersionName } from './ownership.ts';
import { type Demands, findDemands, findEarlierCertificates, findPinned, pinFirst } from './signature-repository.ts';

/** The reason why a version must not be distributed: an error of the API, and the end of a transaction. */
export interface Refusal {
  code: 'SIGNATURE_MISSING' | 'SIGNATURE_INVALID' | 'CERTIFICATE_CHANGED' | 'CERTIFICATE_UNREADABLE';
  /** The values of the text of the error. */
  values: Record<string, string>;
}

/** The state of the signature of a version. `unchecked`: it fits the version, and the stored file is not known. */
export type SignatureState = 'none' | 'valid' | 'unchecked' | 'invalid';

/** The version whose file is judged. */
export interface Judged extends VersionName {
  binaryId: string;
}

interface Parts {
  database: Database;
  digests: Pick<Digests, 'of' | 'known'>;
  inspection: Pick<Inspection, 'certificates'>;
}

export type Trust = ReturnType<typeof createTrust>;

/** Judges a signature by its key, and by the digest of the stored file if that is known. */
export function refusalOf(
  name: VersionName,
  { softwareSignatures, signature }: Pick<Demands, 'softwareSignatures' | 'signature'>,
  sha256: string | undefined,
): Refusal | undefined {
  const invalid = (problem: string): Refusal => ({ code: 'SIGNATURE_INVALID', values: { problem } });
  if (signature === null)
    return softwareSignatures === 'required' ? { code: 'SIGNATURE_MISSING', values: {} } : undefined;
  const { keyId, publicKey } = signature;
  if (publicKey === null) return invalid(`its key ${keyId} is not a key of the developer`);
  if (!isGenuine(publicKey, name, signature)) return invalid(`it was not made with key ${keyId} for this version`);
  if (sha256 !== undefined && sha256 !== signature.sha256) return invalid('the file is not the one that was signed');
  return undefined;
}

const NOTHING: Demands = {
  developerId: '',
  softwareSignatures: 'optional',
  certificateChange: 'warn',
  signature: null,
};

/**
 * Decides whether a version may be distributed: its signature must verify if it has one, or must have one, and the
 * certificate in its APK must be that of the version before, where the developer says so. The service's own software has
 * no developer and so no rules.
 */
export function createTrust({ database, digests, inspection }: Parts) {
  /**
   * Compares the certificates with those that are pinned to the package, or before any are, with those of the newest
   * earlier version that is distributed. A version that is only registered does not count: who can upload could prepare
   * his own with it. `preparing`: the file was not read yet.
   */
  async function certificateRefusal(
    developerId: string,
    version: Judged,
    stored: StoredObject,
    waits: boolean,
  ): Promise<Refusal | 'preparing' | undefined> {
    const found = await inspection.certificates(version, stored, { waits });
    if (found === undefined) return 'preparing';
    const pinned = await findPinned(database.read, developerId, version.package);
    const before = pinned ?? (await findEarlierCertificates(database.read, version, 'distributed'));
    if (found === 'unread') return before && { code: 'CERTIFICATE_UNREADABLE', values: {} };
    if (before && before.certificates.join(' ') !== found.join(' '))
      return { code: 'CERTIFICATE_CHANGED', values: { version: before.version } };
    if (!pinned && found.length > 0)
      await database.transact((unit) => pinFirst(unit, developerId, version, found), { pace: 'soon' });
    return undefined;
  }

  const demandsOf = async (developerId: string | null, binaryId: string): Promise<Demands> =>
    (developerId === null ? undefined : await findDemands(database.read, developerId, binaryId)) ?? NOTHING;

  return {
    /** The rules and the signature of a version; those of the service's own software are empty. */
    demands: demandsOf,

    /** The state of the signature of a version, with the digest of the stored file if that is known. */
    async signatureState(
      developerId: string | null,
      version: Judged,
      sha256: string | undefined,
    ): Promise<SignatureState> {
      const { signature } = await demandsOf(developerId, version.binaryId);
      if (signature === null) return 'none';
      if (refusalOf(version, { softwareSignatures: 'optional', signature }, sha256)) return 'invalid';
      return sha256 === undefined ? 'unchecked' : 'valid';
    },

    /** Whether the file matters for these rules. */
    needsFile: ({ signature, certificateChange }: Demands): boolean =>
      signature !== null || certificateChange === 'refuse',

    /**
     * Judges the version before it is delivered, when a delivery will judge it again: what is not known about the file yet
     * is passed over, and is made known for then.
     */
    async early(demands: Demands, version: Judged, stored: StoredObject | undefined): Promise<Refusal | undefined> {
      const sha256 = stored && demands.signature ? await digests.known(version.binaryId, stored) : undefined;
      const refusal = refusalOf(version, demands, sha256);
      if (refusal || !stored || demands.certificateChange === 'warn') return refusal;
      const found = await certificateRefusal(demands.developerId, version, stored, false);
      return found === 'preparing' ? undefined : found;
    },

    /**
     * Judges the version with everything about its file. `preparing`: the file must be read first, for which `waits`
     * waits.
     */
    async final(
      demands: Demands,
      version: Judged,
      { stored, sha256, waits }: { stored: StoredObject; sha256: string; waits: boolean },
    ): Promise<Refusal | 'preparing' | undefined> {
      const refusal = refusalOf(version, demands, sha256);
      if (refusal || demands.certificateChange === 'warn') return refusal;
      return certificateRefusal(demands.developerId, version, stored, waits);
    },
  };
}
