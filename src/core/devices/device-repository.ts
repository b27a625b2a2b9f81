import { inSets } from '../../platform/database/set-form.ts';
import type { Lock, Sql, UnitOfWork } from '../../platform/database/sql.ts';
import type { Micros } from '../../runtime/units.ts';
import type { IssuedCertificate, KnownLogin } from './login-proof.ts';
import { lotOf } from './lot.ts';

type ActivationState = 'deactivated' | 'activating' | 'activated';

export interface Device {
  deviceId: string;
  developerId: string;
  activation: ActivationState;
  /** The application for which the device is activated, or is being activated. */
  applicationId: string | null;
  clientId: string | null;
  hardwareProperties: object | null;
  /** Whether the device is refused when it connects. */
  blocked: boolean;
  /**
   * The client certificates that are accepted instead of the credential. Null: any that names the device. Otherwise the one
   * with this SHA-256 fingerprint, in lower-case hexadecimal digits; none when it is empty.
   */
  certificate: string | null;
  /** When another credential was offered, with which the device has not logged in yet; null: there is none. */
  credentialOfferedAt: Micros | null;
  createdAt: Micros;
}

/** A device with the certificates that the service has signed for it, which commands do not need. */
export interface CertifiedDevice extends Device {
  /** The certificate that the service has signed for the device; null: there is none. */
  issued: IssuedCertificate | null;
  /** The one that takes its place when the device logs in with it; null: there is none. */
  nextIssued: IssuedCertificate | null;
  /** The days for which certificates of the device are signed; null until it has had one. */
  issuedDays: number | null;
}

/** The columns of a certificate that the service has signed. */
type IssuedColumns<Prefix extends string> = Record<`${Prefix}Fingerprint`, string | null> &
  Record<`${Prefix}By`, string | null> &
  Record<`${Prefix}Until`, Micros | null>;

type Row = Omit<Device, 'hardwareProperties' | 'blocked'> & { hardwareProperties: string | null; blocked: number };
type CertifiedRow = Row & { issuedDays: number | null } & IssuedColumns<'issued'> & IssuedColumns<'next'>;

const COLUMNS = `device_id AS "deviceId", developer_id AS "developerId", activation, application_id AS "applicationId",
  client_id AS "clientId", hardware_properties AS "hardwareProperties", blocked, certificate,
  next_credential_at AS "credentialOfferedAt", created_at AS "createdAt"`;
const CERTIFIED_COLUMNS = `${COLUMNS}, issued_certificate AS "issuedFingerprint", issued_by AS "issuedBy",
  issued_until AS "issuedUntil", issued_days AS "issuedDays", next_issued_certificate AS "nextFingerprint",
  next_issued_by AS "nextBy", next_issued_until AS "nextUntil"`;

const toIssued = (
  fingerprint: string | null,
  authorityId: string | null,
  until: Micros | null,
): IssuedCertificate | null =>
  fingerprint === null || authorityId === null || until === null ? null : { fingerprint, authorityId, until };

const toDevice = (row: Row): Device => ({
  ...row,
  blocked: row.blocked !== 0,
  hardwareProperties: row.hardwareProperties === null ? null : (JSON.parse(row.hardwareProperties) as object),
});

function toCertified(row: CertifiedRow): CertifiedDevice {
  const { issuedFingerprint, issuedBy, issuedUntil, nextFingerprint, nextBy, nextUntil, issuedDays, ...device } = row;
  return {
    ...toDevice(device),
    issuedDays,
    issued: toIssued(issuedFingerprint, issuedBy, issuedUntil),
    nextIssued: toIssued(nextFingerprint, nextBy, nextUntil),
  };
}

const toText = (properties: object | null): string | null => (properties === null ? null : JSON.stringify(properties));

const FIND = inSets(`SELECT ${COLUMNS} FROM devices WHERE device_id = ?`, ['text']);

/**
 * Finds a device. A unit of work that was begun without the deviceId as its `key` has not locked the device; it passes
 * `lock` (its `forUpdate`) if its decision depends on the device, so that no other unit changes the device meanwhile.
 */
export async function findDevice(sql: Sql, deviceId: string, lock: Lock = ''): Promise<Device | undefined> {
  const row = await sql.get<Row>(FIND + lock, deviceId);
  return row && toDevice(row);
}

/** Finds a device with its certificates. A unit of work passes `lock` as above. */
export async function findCertified(sql: Sql, deviceId: string, lock: Lock = ''): Promise<CertifiedDevice | undefined> {
  const text = `SELECT ${CERTIFIED_COLUMNS} FROM devices WHERE device_id = ?${lock}`;
  const row = await sql.get<CertifiedRow>(text, deviceId);
  return row && toCertified(row);
}

export async function findCredentialHash(sql: Sql, deviceId: string): Promise<Buffer | undefined> {
  const row = await sql.get<{ hash: Buffer }>(
    'SELECT credential_hash AS "hash" FROM devices WHERE device_id = ?',
    deviceId,
  );
  return row?.hash;
}

interface Login extends KnownLogin {
  blocked: boolean;
  /** Whether the device's developer, or the application that it is activated for, is being removed. */
  leaves: boolean;
  developerId: string;
  /** Whether nobody has logged in as this device since it was registered. */
  neverLoggedIn: boolean;
}

/** A device CA, unless it is revoked. */
const goodAuthority = (column: string): string =>
  `(SELECT a.authority_id FROM device_authorities a WHERE a.authority_id = ${column} AND a.revoked_at IS NULL)`;

/** Reads the fields that decide on a login. */
export async function findLogin(sql: Sql, deviceId: string): Promise<Login | undefined> {
  type Row = Omit<Login, 'blocked' | 'leaves' | 'neverLoggedIn' | 'issued' | 'nextIssued'> & {
    blocked: number;
    leaves: string | null;
    neverLoggedIn: number | null;
  } & IssuedColumns<'issued'> &
    IssuedColumns<'next'>;
  const row = await sql.get<Row>(
    `SELECT d.credential_hash AS "hash", d.blocked, d.certificate, d.developer_id AS "developerId",
       d.never_logged_in AS "neverLoggedIn", d.next_credential_hash AS "nextHash",
       d.issued_certificate AS "issuedFingerprint", d.issued_until AS "issuedUntil",
       ${goodAuthority('d.issued_by')} AS "issuedBy", d.next_issued_certificate AS "nextFingerprint",
       d.next_issued_until AS "nextUntil", ${goodAuthority('d.next_issued_by')} AS "nextBy",
       COALESCE((SELECT v.removal_id FROM developers v WHERE v.developer_id = d.developer_id),
         (SELECT a.removal_id FROM applications a WHERE a.application_id = d.application_id)) AS leaves
     FROM devices d WHERE d.device_id = ?`,
    deviceId,
  );
  return (
    row && {
      ...row,
      issued: toIssued(row.issuedFingerprint, row.issuedBy, row.issuedUntil),
      nextIssued: toIssued(row.nextFingerprint, row.nextBy, row.nextUntil),
      blocked: row.blocked !== 0,
      leaves: row.leaves !== null,
      neverLoggedIn: row.neverLoggedIn === 1,
    }
  );
}

/** Stores that a device has logged in, unless its credential is another one by now; returns false then. */
export async function saveFirstLogin(sql: Sql, deviceId: string, hash: Buffer): Promise<boolean> {
  const text = 'UPDATE devices SET never_logged_in = NULL WHERE device_id = ? AND credential_hash = ?';
  return (await sql.run(text, deviceId, hash)) === 1;
}

/** The offered credential takes the place of the other one, unless it is offered no more; returns false then. */
export async function takeOffered(sql: Sql, deviceId: string, hash: Buffer): Promise<boolean> {
  const text = `UPDATE devices SET credential_hash = next_credential_hash, certificate = '', next_credential_hash = NULL,
    next_credential_at = NULL, never_logged_in = NULL, issued_certificate = NULL, issued_by = NULL, issued_until = NULL,
    next_issued_certificate = NULL, next_issued_by = NULL, next_issued_until = NULL
    WHERE device_id = ? AND next_credential_hash = ?`;
  return (await sql.run(text, deviceId, hash)) === 1;
}

/** The offered certificate takes the place of the other one, unless it is offered no more; returns false then. */
export async function takeOfferedCertificate(sql: Sql, deviceId: string, fingerprint: string): Promise<boolean> {
  const text = `UPDATE devices SET issued_certificate = next_issued_certificate, issued_by = next_issued_by,
    issued_until = next_issued_until, next_issued_certificate = NULL, next_issued_by = NULL, next_issued_until = NULL,
    never_logged_in = NULL WHERE device_id = ? AND next_issued_certificate = ?`;
  return (await sql.run(text, deviceId, fingerprint)) === 1;
}

/** Offers a certificate beside the one of the device, in the place of one that was offered before. */
export async function offerCertificate(sql: Sql, deviceId: string, offered: IssuedCertificate): Promise<void> {
  await sql.run(
    `UPDATE devices SET next_issued_certificate = ?, next_issued_by = ?, next_issued_until = ? WHERE device_id = ?`,
    offered.fingerprint,
    offered.authorityId,
    offered.until,
    deviceId,
  );
}

/**
 * The certificate that the service has signed for the device takes the place of its credential, and of every other
 * certificate. `hash`: of a credential that nobody knows.
 */
export async function giveCertificate(
  sql: Sql,
  deviceId: string,
  { hash, issued, days }: { hash: Buffer; issued: IssuedCertificate; days: number },
): Promise<void> {
  await sql.run(
    `UPDATE devices SET credential_hash = ?, certificate = '', next_credential_hash = NULL, next_credential_at = NULL,
       issued_certificate = ?, issued_by = ?, issued_until = ?, issued_days = ?, next_issued_certificate = NULL,
       next_issued_by = NULL, next_issued_until = NULL WHERE device_id = ?`,
    hash,
    issued.fingerprint,
    issued.authorityId,
    issued.until,
    days,
    deviceId,
  );
}

/** Offers a credential beside the one of the device; returns false when the device does not exist. */
export async function offerCredential(sql: Sql, deviceId: string, hash: Buffer, at: Micros): Promise<boolean> {
  const text = 'UPDATE devices SET next_credential_hash = ?, next_credential_at = ? WHERE device_id = ?';
  return (await sql.run(text, hash, at, deviceId)) === 1;
}

/** Finds a device that asks for its first credential. A unit of work passes `lock` (its `forUpdate`) as above. */
export async function findEnrolling(sql: Sql, deviceId: string, lock: Lock = '') {
  const row = await sql.get<Row & { credentialHash: Buffer; neverLoggedIn: number | null }>(
    `SELECT ${COLUMNS}, credential_hash AS "credentialHash", never_logged_in AS "neverLoggedIn"
     FROM devices WHERE device_id = ?${lock}`,
    deviceId,
  );
  return row && { ...toDevice(row), credentialHash: row.credentialHash, neverLoggedIn: row.neverLoggedIn === 1 };
}

/** Adds a device; returns false when the identifier is taken. */
export async function insertDevice(
  sql: Sql,
  device: Pick<Device, 'deviceId' | 'developerId' | 'hardwareProperties' | 'createdAt'>,
  credentialHash: Buffer,
): Promise<boolean> {
  const changed = await sql.run(
    `INSERT INTO devices (device_id, developer_id, credential_hash, hardware_properties, activation, created_at, lot,
       never_logged_in)
     VALUES (?, ?, ?, ?, 'deactivated', ?, ?, 1) ON CONFLICT (device_id) DO NOTHING`,
    device.deviceId,
    device.developerId,
    credentialHash,
    toText(device.hardwareProperties),
    device.createdAt,
    lotOf(device.deviceId),
  );
  return changed === 1;
}

/** A page of a developer's devices, ordered by identifier, and their total number. */
export async function listDevices(sql: Sql, developerId: string, page: { offset: number; limit: number }) {
  const rows = await sql.all<CertifiedRow>(
    `SELECT ${CERTIFIED_COLUMNS} FROM devices WHERE developer_id = ? ORDER BY device_id LIMIT ? OFFSET ?`,
    developerId,
    page.limit,
    page.offset,
  );
  const count = await sql.get<{ total: number }>(
    'SELECT count(*) AS "total" FROM devices WHERE developer_id = ?',
    developerId,
  );
  return { devices: rows.map(toCertified), total: count?.total ?? 0 };
}

export async function updateDevice(
  sql: Sql,
  device: Pick<Device, 'deviceId' | 'developerId' | 'hardwareProperties' | 'blocked'>,
): Promise<void> {
  await sql.run(
    'UPDATE devices SET developer_id = ?, hardware_properties = ?, blocked = ? WHERE device_id = ?',
    device.developerId,
    toText(device.hardwareProperties),
    device.blocked ? 1 : 0,
    device.deviceId,
  );
}

/** A column of an issued certificate stays if the certificate is the named one. */
const keptIf = (prefix: string): string =>
  ['certificate', 'by', 'until']
    .map((column) => `${prefix}_${column} = CASE WHEN ${prefix}_certificate = ? THEN ${prefix}_${column} END`)
    .join(', ');

/**
 * Stores the hash of the credential, and the certificates that are accepted instead of it (see `certificate` above). A
 * certificate that the service has signed ends, unless `certificate` names it. Returns false when the device does not exist.
 */
export async function updateCredential(
  sql: Sql,
  deviceId: string,
  login: { hash: Buffer; certificate: string | null },
): Promise<boolean> {
  const named = login.certificate ?? '';
  const text = `UPDATE devices SET credential_hash = ?, certificate = ?, next_credential_hash = NULL,
    next_credential_at = NULL, ${keptIf('issued')}, ${keptIf('next_issued')} WHERE device_id = ?`;
  const changed = await sql.run(
    text,
    login.hash,
    login.certificate,
    named,
    named,
    named,
    named,
    named,
    named,
    deviceId,
  );
  return changed === 1;
}

export async function deleteDevice(sql: Sql, deviceId: string): Promise<void> {
  await sql.run('DELETE FROM devices WHERE device_id = ?', deviceId);
}

/** The number of the developer's devices that are activated or being activated, which counts against the contract (op 5). */
export async function countHeldSlots(sql: Sql, developerId: string): Promise<number> {
  const row = await sql.get<{ held: number }>(
    `SELECT count(*) AS "held" FROM devices WHERE developer_id = ? AND activation <> 'deactivated'`,
    developerId,
  );
  return row?.held ?? 0;
}

/** Whether the developer has a device. */
export async function hasDevices(sql: Sql, developerId: string): Promise<boolean> {
  const row = await sql.get('SELECT 1 AS "one" FROM devices WHERE developer_id = ? LIMIT 1', developerId);
  return row !== undefined;
}

/** Whether the application has a device that is activated or being activated. */
export async function hasActivatedDevice(sql: Sql, applicationId: string): Promise<boolean> {
  const row = await sql.get('SELECT 1 AS "one" FROM devices WHERE application_id = ? LIMIT 1', applicationId);
  return row !== undefined;
}

/** Whether a device that is activated or being activated already has this client identifier. */
export async function isClientIdTaken(sql: Sql, clientId: string): Promise<boolean> {
  return (await sql.get('SELECT 1 AS "one" FROM devices WHERE client_id = ?', clientId)) !== undefined;
}

/**
 * Changes the activation of a device that the unit has locked, and counts it in the number of activated devices of its
 * former and of its new application.
 */
export function setActivation(
  unit: UnitOfWork,
  from: Pick<Device, 'deviceId' | 'activation' | 'applicationId'>,
  to: Pick<Device, 'activation' | 'applicationId' | 'clientId'>,
): void {
  unit.later('UPDATE devices SET activation = ?, application_id = ?, client_id = ? WHERE device_id = ?', [
    to.activation,
    to.applicationId,
    to.clientId,
    from.deviceId,
  ]);
  // All devices of an application share this row, so it is locked last.
  for (const [{ activation, applicationId }, step] of [[from, -1] as const, [to, 1] as const]) {
    if (activation !== 'activated' || applicationId === null) continue;
    unit.later(
      `INSERT INTO activated_counts (application_id, activated) VALUES (?, ?)
       ON CONFLICT (application_id) DO UPDATE SET activated = activated_counts.activated + excluded.activated`,
      [applicationId, step],
    );
  }
}
