import { DomainError } from '@lapel/schemas/contracts/errors';
import type { Sql, SqlValue, UnitOfWork } from '../../platform/database/sql.ts';
import type { Place } from '../../platform/encryption/vault.ts';
import type { Micros } from '../../runtime/units.ts';
import type { SealedTable } from './sealed-columns.ts';

export interface StoredKey {
  keyId: string;
  /** By which a node finds out that it has the same key under this name. */
  proof: string;
  /** New values are encrypted with the current key; some may still be encrypted with a former one. */
  state: 'current' | 'former';
  createdAt: Micros;
}

export interface Rotation {
  keyId: string;
  state: 'waiting' | 'running' | 'settling' | 'ended';
  /** The last row that is done; the work goes on after it. Null: the work begins. */
  place: { table: string; key: SqlValue[] } | null;
  rewritten: number;
  requestedAt: Micros;
  startedAt: Micros | null;
  settlesAt: Micros | null;
  endedAt: Micros | null;
}

/** The keys that values of the database are encrypted with. */
export const listKeys = (sql: Sql): Promise<StoredKey[]> =>
  sql.all<StoredKey>(
    `SELECT key_id AS "keyId", proof, state, created_at AS "createdAt" FROM encryption_keys ORDER BY created_at, key_id`,
  );

/** Makes a key the current one; a unit that reads the keys before must have locked them. */
export async function makeCurrent(
  unit: UnitOfWork,
  { keyId, proof }: Pick<StoredKey, 'keyId' | 'proof'>,
  at: Micros,
): Promise<void> {
  await unit.run(`UPDATE encryption_keys SET state = 'former' WHERE key_id <> ?`, keyId);
  await unit.run(
    `INSERT INTO encryption_keys (key_id, proof, state, created_at) VALUES (?, ?, 'current', ?)
     ON CONFLICT (key_id) DO UPDATE SET state = 'current'`,
    keyId,
    proof,
    at,
  );
}

/** Locks the keys and the rotation until the unit ends, on a row that always exists. */
export async function lockEncryption(unit: UnitOfWork): Promise<void> {
  await unit.all(`SELECT number FROM migrations WHERE number = 43${unit.forUpdate}`);
}

/** Forgets the former keys: no value is encrypted with them any more. */
export async function forgetFormer(unit: UnitOfWork): Promise<void> {
  await unit.run(`DELETE FROM encryption_keys WHERE state = 'former'`);
}

/** The latest rotation. */
export async function findRotation(sql: Sql): Promise<Rotation | undefined> {
  const row = await sql.get<Omit<Rotation, 'place'> & { place: string | null }>(
    `SELECT key_id AS "keyId", state, place, rewritten, requested_at AS "requestedAt", started_at AS "startedAt",
       settles_at AS "settlesAt", ended_at AS "endedAt" FROM encryption_rotation`,
  );
  return row && { ...row, place: row.place === null ? null : (JSON.parse(row.place) as Rotation['place']) };
}

export async function saveRotation(unit: UnitOfWork, rotation: Rotation): Promise<void> {
  await unit.run(
    `INSERT INTO encryption_rotation (one, key_id, state, place, rewritten, requested_at, started_at, settles_at, ended_at)
     VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (one) DO UPDATE SET key_id = excluded.key_id, state = excluded.state, place = excluded.place,
       rewritten = excluded.rewritten, requested_at = excluded.requested_at, started_at = excluded.started_at,
       settles_at = excluded.settles_at, ended_at = excluded.ended_at`,
    rotation.keyId,
    rotation.state,
    rotation.place === null ? null : JSON.stringify(rotation.place),
    rotation.rewritten,
    rotation.requestedAt,
    rotation.startedAt,
    rotation.settlesAt,
    rotation.endedAt,
  );
}

/** A row with its values as they are stored. */
export interface SealedRow {
  key: SqlValue[];
  /** The part of the place that stands for the row. */
  row: (string | number)[];
  values: { column: string; stored: string }[];
}

/** The rows of a table behind a key, in the order of the key. */
export async function nextRows(
  sql: Sql,
  { table, columns, key, row, where = '1 = 1' }: SealedTable,
  after: readonly SqlValue[] | undefined,
  limit: number,
): Promise<SealedRow[]> {
  const behind = after ? ` AND (${key.join(', ')}) > (${key.map(() => '?').join(', ')})` : '';
  const names = [...new Set([...key, ...row, ...columns])];
  const found = await sql.all<Record<string, SqlValue>>(
    `SELECT ${names.join(', ')} FROM ${table} WHERE ${where}${behind} ORDER BY ${key.join(', ')} LIMIT ?`,
    ...(after ?? []),
    limit,
  );
  return found.map((one) => ({
    key: key.map((name) => one[name] ?? null),
    row: row.map((name) => one[name] as string | number),
    values: columns.flatMap((column) => {
      const stored = one[column];
      return typeof stored === 'string' ? [{ column, stored }] : [];
    }),
  }));
}

/**
 * Encrypts a value anew, if it is still the one that was read. Returns the number of values that were changed; undefined for
 * one that cannot be read, because it was changed or copied there. Throws ENCRYPTION_KEY_MISSING.
 */
export async function rewrite(
  unit: UnitOfWork,
  { table, key }: SealedTable,
  { key: values, row }: SealedRow,
  { column, stored }: { column: string; stored: string },
): Promise<number | undefined> {
  const place: Place = [table, column, ...row];
  let opened: string;
  try {
    opened = unit.vault.open(place, stored);
  } catch (cause) {
    if (cause instanceof DomainError) throw cause;
    return undefined;
  }
  const text = `UPDATE ${table} SET ${column} = ? WHERE ${key.map((name) => `${name} = ?`).join(' AND ')} AND ${column} = ?`;
  return unit.run(text, unit.vault.seal(place, opened), ...values, stored);
}
