import { inSets } from '../../platform/database/set-form.ts';
import type { Lock, Sql } from '../../platform/database/sql.ts';
import type { Micros } from '../../runtime/units.ts';
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

type Row = Omit<Device, 'hardwareProperties' | 'blocked'> & { hardwareProperties: string | null; blocked: number };

const COLUMNS = `device_id AS "deviceId", developer_id AS "developerId", activation, application_id AS "applicationId",
  client_id AS "clientId", hardware_properties AS "hardwareProperties", blocked, certificate,
  next_credential_at AS "credentialOfferedAt", created_at AS "createdAt"`;

const toDevice = (row: Row): Device => ({
  ...row,
  blocked: row.blocked !== 0,
  hardwareProperties: row.hardwareProperties === null ? null : (JSON.parse(row.hardwareProperties) as object),
});

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

export async function findCredentialHash(sql: Sql, deviceId: string): Promise<Buffer | undefined> {
  const row = await sql.get<{ hash: Buffer }>(
    'SELECT credential_hash AS "hash" FROM devices WHERE device_id = ?',
    deviceId,
  );
  return row?.hash;
}

interface Login {
  hash: Buffer;
  /** The hash of the credential that was offered; null: there is none. */
  nextHash: Buffer | null;
  blocked: boolean;
  /** Whether the device's developer, or the application that it is activated for, is being removed. */
  leaves: boolean;
  certificate: string | null;
  developerId: string;
  /** Whether nobody has logged in as this device since it was registered. */
  neverLoggedIn: boolean;
}

/** Reads the fields that decide on a login. */
export async function findLogin(sql: Sql, deviceId: string): Promise<Login | undefined> {
  type Row = Omit<Login, 'blocked' | 'leaves' | 'neverLoggedIn'> & {
    blocked: number;
    leaves: string | null;
    neverLoggedIn: number | null;
  };
  const row = await sql.get<Row>(
    `SELECT d.credential_hash AS "hash", d.blocked, d.certificate, d.developer_id AS "developerId",
       d.never_logged_in AS "neverLoggedIn", d.next_credential_hash AS "nextHash",
       COALESCE((SELECT v.removal_id FROM developers v WHERE v.developer_id = d.developer_id),
         (SELECT a.removal_id FROM applications a WHERE a.application_id = d.application_id)) AS leaves
     FROM devices d WHERE d.device_id = ?`,
    deviceId,
  );
  return (
    row && { ...row, blocked: row.blocked !== 0, leaves: row.leaves !== null, neverLoggedIn: row.neverLoggedIn === 1 }
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
    next_credential_at = NULL, never_logged_in = NULL WHERE device_id = ? AND next_credential_hash = ?`;
  return (await sql.run(text, deviceId, hash)) === 1;
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
  const rows = await sql.all<Row>(
    `SELECT ${COLUMNS} FROM devices WHERE developer_id = ? ORDER BY device_id LIMIT ? OFFSET ?`,
    developerId,
    page.limit,
    page.offset,
  );
  const count = await sql.get<{ total: number }>(
    'SELECT count(*) AS "total" FROM devices WHERE developer_id = ?',
    developerId,
  );
  return { devices: rows.map(toDevice), total: count?.total ?? 0 };
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

/**
 * Stores the hash of the credential, and the certificates that are accepted instead of it (see `certificate` above).
 * Returns false when the device does not exist.
 */
export async function updateCredential(
  sql: Sql,
  deviceId: string,
  login: { hash: Buffer; certificate: string | null },
): Promise<boolean> {
  const text = `UPDATE devices SET credential_hash = ?, certificate = ?, next_credential_hash = NULL,
    next_credential_at = NULL WHERE device_id = ?`;
  return (await sql.run(text, login.hash, login.certificate, deviceId)) === 1;
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
 * Changes the activation of a device, and counts it in the number of activated devices of its former and of its new
 * application.
 */
export async function setActivation(
  sql: Sql,
  deviceId: string,
  to: Pick<Device, 'activation' | 'applicationId' | 'clientId'>,
): Promise<void> {
  const from = await sql.get<typeof to>(
    'SELECT activation, application_id AS "applicationId" FROM devices WHERE device_id = ?',
    deviceId,
  );
  if (!from) return;
  for (const [{ activation, applicationId }, step] of [[from, -1] as const, [to, 1] as const]) {
    if (activation !== 'activated' || applicationId === null) continue;
    await sql.run(
      `INSERT INTO activated_counts (application_id, activated) VALUES (?, ?)
       ON CONFLICT (application_id) DO UPDATE SET activated = activated_counts.activated + excluded.activated`,
      applicationId,
      step,
    );
  }
  await sql.run(
    'UPDATE devices SET activation = ?, application_id = ?, client_id = ? WHERE device_id = ?',
    to.activation,
    to.applicationId,
    to.clientId,
    deviceId,
  );
}
