import type { Sql } from '../../platform/database/sql.ts';
import type { Micros } from '../../runtime/units.ts';
import { versionSortKey } from './version.ts';

export interface SoftwareKey {
  /** Derived from the public key. */
  keyId: string;
  name: string;
  /** PEM of the SubjectPublicKeyInfo. */
  publicKey: string;
  createdAt: Micros;
}

/** A detached signature of a version. */
export interface Signature {
  keyId: string;
  /** The SHA-256 of the file that was signed, hexadecimal. */
  sha256: string;
  /** base64 */
  signature: string;
  signedAt: Micros;
}

/** The conditions for the distribution of a version, by the rules of its developer. */
export interface Demands {
  /** The developer whose rules they are. */
  developerId: string;
  softwareSignatures: 'optional' | 'required';
  certificateChange: 'warn' | 'refuse';
  /** The signature of the version, with its key; the key is null when the developer no longer has it. */
  signature: (Signature & { publicKey: string | null }) | null;
}

const KEY = 'key_id AS "keyId", name, public_key AS "publicKey", created_at AS "createdAt"';

/** The keys of a developer, in the order of their making. They are bounded, so there are no pages. */
export const listKeys = (sql: Sql, developerId: string): Promise<SoftwareKey[]> =>
  sql.all(`SELECT ${KEY} FROM software_keys WHERE developer_id = ? ORDER BY created_at, key_id`, developerId);

export const findKey = (sql: Sql, developerId: string, keyId: string): Promise<SoftwareKey | undefined> =>
  sql.get(`SELECT ${KEY} FROM software_keys WHERE developer_id = ? AND key_id = ?`, developerId, keyId);

export async function insertKey(sql: Sql, developerId: string, key: SoftwareKey): Promise<void> {
  await sql.run(
    'INSERT INTO software_keys (developer_id, key_id, name, public_key, created_at) VALUES (?, ?, ?, ?, ?)',
    developerId,
    key.keyId,
    key.name,
    key.publicKey,
    key.createdAt,
  );
}

/** Returns false when the developer has no such key. */
export const deleteKey = async (sql: Sql, developerId: string, keyId: string): Promise<boolean> =>
  (await sql.run('DELETE FROM software_keys WHERE developer_id = ? AND key_id = ?', developerId, keyId)) === 1;

/** Deletes the keys and the pinned certificates of a developer. */
export async function deleteKeysOf(sql: Sql, developerId: string): Promise<void> {
  await sql.run('DELETE FROM software_keys WHERE developer_id = ?', developerId);
  await sql.run('DELETE FROM pinned_certificates WHERE developer_id = ?', developerId);
}

export async function saveSignature(sql: Sql, binaryId: string, signature: Signature): Promise<void> {
  await sql.run(
    `INSERT INTO version_signatures (binary_id, key_id, sha256, signature, signed_at) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT (binary_id) DO UPDATE SET key_id = excluded.key_id, sha256 = excluded.sha256,
       signature = excluded.signature, signed_at = excluded.signed_at`,
    binaryId,
    signature.keyId,
    signature.sha256,
    signature.signature,
    signature.signedAt,
  );
}

/** Returns false when the version has no signature. */
export const deleteSignature = async (sql: Sql, binaryId: string): Promise<boolean> =>
  (await sql.run('DELETE FROM version_signatures WHERE binary_id = ?', binaryId)) === 1;

/** The rules for a version of a developer, with its signature and key: one statement, since each install runs it. */
export async function findDemands(sql: Sql, developerId: string, binaryId: string): Promise<Demands | undefined> {
  const row = await sql.get<
    Pick<Demands, 'softwareSignatures' | 'certificateChange'> & {
      keyId: string | null;
      sha256: string;
      signature: string;
      signedAt: Micros;
      publicKey: string | null;
    }
  >(
    `SELECT d.software_signatures AS "softwareSignatures", d.certificate_change AS "certificateChange",
       s.key_id AS "keyId", s.sha256, s.signature, s.signed_at AS "signedAt", k.public_key AS "publicKey"
     FROM developers d LEFT JOIN version_signatures s ON s.binary_id = ?
       LEFT JOIN software_keys k ON k.developer_id = d.developer_id AND k.key_id = s.key_id
     WHERE d.developer_id = ?`,
    binaryId,
    developerId,
  );
  if (!row) return undefined;
  const { softwareSignatures, certificateChange, keyId, ...rest } = row;
  return { developerId, softwareSignatures, certificateChange, signature: keyId === null ? null : { keyId, ...rest } };
}

/** The certificates in a file; `unread` when they could not be read, which does not mean that there are none. */
export type Certificates = readonly string[] | 'unread';

/** The stored forms of `unread`, and of a file that has none and whose manifest could not be read. */
const UNREAD = '?';
const NONE = '-';

/**
 * The certificates of the upload with this ETag; undefined when it was not looked for them. An earlier release stored an
 * empty text for a file whose manifest it could not read; such a file is inspected again.
 */
export async function findCertificates(sql: Sql, binaryId: string, etag: string): Promise<Certificates | undefined> {
  const row = await sql.get<{ certificates: string; wasRead: number }>(
    `SELECT c.certificates, CASE WHEN b.found_package IS NULL THEN 0 ELSE 1 END AS "wasRead"
     FROM binary_certificates c LEFT JOIN binary_contents b ON b.binary_id = c.binary_id AND b.etag = c.etag
     WHERE c.binary_id = ? AND c.etag = ?`,
    binaryId,
    etag,
  );
  if (!row || (row.certificates === '' && row.wasRead === 0)) return undefined;
  return row.certificates === UNREAD ? 'unread' : split(row.certificates);
}

const split = (text: string): string[] => (text === '' || text === NONE ? [] : text.split(' '));

/** Stores certificates, unless the version was removed meanwhile. */
export async function saveCertificates(
  sql: Sql,
  { binaryId, etag, certificates }: { binaryId: string; etag: string; certificates: Certificates },
): Promise<void> {
  await sql.run(
    `INSERT INTO binary_certificates (binary_id, etag, certificates)
     SELECT binary_id, ?, ? FROM versions WHERE binary_id = ?
     ON CONFLICT (binary_id) DO UPDATE SET etag = excluded.etag, certificates = excluded.certificates`,
    etag,
    certificates === 'unread' ? UNREAD : [...certificates].sort().join(' ') || NONE,
    binaryId,
  );
}

/** Certificates, and the version that they are from. */
export interface VersionCertificates {
  version: string;
  certificates: string[];
}

/** The certificates that the versions of a package must have; undefined when none are pinned yet. */
export async function findPinned(
  sql: Sql,
  developerId: string,
  name: string,
): Promise<VersionCertificates | undefined> {
  const row = await sql.get<{ version: string; certificates: string }>(
    'SELECT version, certificates FROM pinned_certificates WHERE developer_id = ? AND package = ?',
    developerId,
    name,
  );
  return row && { version: row.version, certificates: split(row.certificates) };
}

/** Pins the certificates of a version to its package, if the package has none. */
export async function pinFirst(
  sql: Sql,
  developerId: string,
  name: { package: string; version: string },
  certificates: readonly string[],
): Promise<void> {
  await sql.run(
    `INSERT INTO pinned_certificates (developer_id, package, version, certificates) VALUES (?, ?, ?, ?)
     ON CONFLICT (developer_id, package) DO NOTHING`,
    developerId,
    name.package,
    name.version,
    [...certificates].sort().join(' '),
  );
}

/**
 * Pins the certificates of a distributed version to its package, if its developer only wants warnings: then the package
 * follows its newest distribution. Nothing happens before the file was read.
 */
export async function pinDistributed(sql: Sql, binaryId: string): Promise<void> {
  await sql.run(
    `INSERT INTO pinned_certificates (developer_id, package, version, certificates)
     SELECT p.developer_id, v.package, v.version, c.certificates FROM versions v
       JOIN packages p ON p.line = v.line AND p.package = v.package
       JOIN developers d ON d.developer_id = p.developer_id
       JOIN binary_certificates c ON c.binary_id = v.binary_id
     WHERE v.binary_id = ? AND v.line = 'software' AND v.distribution_started_at IS NOT NULL
       AND d.certificate_change = 'warn' AND c.certificates NOT IN ('', '${NONE}', '${UNREAD}')
     ON CONFLICT (developer_id, package)
     DO UPDATE SET version = excluded.version, certificates = excluded.certificates`,
    binaryId,
  );
}

/**
 * The newest earlier version of a package whose certificates are known, of all or of the distributed ones; undefined when
 * there is none.
 */
export async function findEarlierCertificates(
  sql: Sql,
  name: { package: string; version: string },
  which: 'all' | 'distributed',
): Promise<VersionCertificates | undefined> {
  const key = versionSortKey(name.version);
  const row = await sql.get<{ version: string; certificates: string }>(
    `SELECT v.version, c.certificates FROM versions v JOIN binary_certificates c ON c.binary_id = v.binary_id
     WHERE v.line = 'software' AND v.package = ? AND (v.sort_key < ? OR (v.sort_key = ? AND v.version < ?))
       AND c.certificates NOT IN ('', '${NONE}', '${UNREAD}')${which === 'all' ? '' : ' AND v.distribution_started_at IS NOT NULL'}
     ORDER BY v.sort_key DESC, v.version DESC LIMIT 1`,
    name.package,
    key,
    key,
    name.version,
  );
  return row && { version: row.version, certificates: split(row.certificates) };
}
