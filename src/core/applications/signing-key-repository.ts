import type { Sql, UnitOfWork } from '../../platform/database/sql.ts';
import type { Place } from '../../platform/encryption/vault.ts';
import type { Micros } from '../../runtime/units.ts';

export interface StoredKey {
  keyId: string;
  /** The private key as JSON Web Key, which never leaves the service. */
  privateJwk: string;
  createdAt: Micros;
}

const placeOf = (keyId: string): Place => ['signing_keys', 'private_jwk', keyId];

/** All keys, oldest first. */
export async function listSigningKeys(sql: Sql): Promise<StoredKey[]> {
  const rows = await sql.all<StoredKey>(
    `SELECT key_id AS "keyId", private_jwk AS "privateJwk", created_at AS "createdAt" FROM signing_keys
     ORDER BY created_at, key_id`,
  );
  return rows.map((row) => ({ ...row, privateJwk: sql.vault.open(placeOf(row.keyId), row.privateJwk) }));
}

/**
 * Locks the table of keys until the unit ends, so that a unit which reads the keys afterwards sees those that another
 * node's rotation made. The lock is on a row that always exists: two nodes that find no key would otherwise both make
 * one.
 */
export async function lockSigningKeys(unit: UnitOfWork): Promise<void> {
  await unit.all(`SELECT number FROM migrations WHERE number = 1${unit.forUpdate}`);
}

export async function insertSigningKey(sql: Sql, key: StoredKey): Promise<void> {
  await sql.run(
    'INSERT INTO signing_keys (key_id, private_jwk, created_at) VALUES (?, ?, ?)',
    key.keyId,
    sql.vault.seal(placeOf(key.keyId), key.privateJwk),
    key.createdAt,
  );
}

export async function deleteSigningKey(sql: Sql, keyId: string): Promise<void> {
  await sql.run('DELETE FROM signing_keys WHERE key_id = ?', keyId);
}
