import type { Sql } from '../../platform/database/sql.ts';
import type { Micros } from '../../runtime/units.ts';
import type { Role } from './roles.ts';

/** A token of a person, without its secret. */
export interface PersonToken {
  tokenId: string;
  personId: string;
  name: string;
  createdAt: Micros;
  /** Null: never. */
  expiresAt: Micros | null;
  /** The last use, to the minute; null before the first. */
  lastUsedAt: Micros | null;
}

/** The person who is identified by a token. */
export interface Identity {
  personId: string;
  name: string;
  role: Role;
  tokenId: string;
  tokenName: string;
  lastUsedAt: Micros | null;
}

const COLUMNS = `token_id AS "tokenId", person_id AS "personId", name, created_at AS "createdAt",
  expires_at AS "expiresAt", last_used_at AS "lastUsedAt"`;

const IDENTITY = `SELECT p.person_id AS "personId", p.name, p.role, t.token_id AS "tokenId", t.name AS "tokenName",
    t.last_used_at AS "lastUsedAt"
  FROM person_tokens t JOIN people p ON p.person_id = t.person_id
  WHERE p.disabled = 0 AND (t.expires_at IS NULL OR t.expires_at > ?)`;

/** Finds the person of a token that is valid at `now`. */
export const findBySecret = (sql: Sql, secretHash: Buffer, now: Micros): Promise<Identity | undefined> =>
  sql.get(`${IDENTITY} AND t.secret_hash = ?`, now, secretHash);

/** The tokens of a person, the newest first. */
export const listTokens = (sql: Sql, personId: string): Promise<PersonToken[]> =>
  sql.all(`SELECT ${COLUMNS} FROM person_tokens WHERE person_id = ? ORDER BY token_id DESC`, personId);

export async function findToken(sql: Sql, tokenId: string): Promise<PersonToken | undefined> {
  return sql.get(`SELECT ${COLUMNS} FROM person_tokens WHERE token_id = ?`, tokenId);
}

/** Returns false when the person has a token of this name. */
export async function insertToken(
  sql: Sql,
  { tokenId, personId, name, secretHash, createdAt, expiresAt }: PersonToken & { secretHash: Buffer },
): Promise<boolean> {
  const inserted = await sql.run(
    `INSERT INTO person_tokens (token_id, person_id, name, secret_hash, created_at, expires_at) VALUES (?, ?, ?, ?, ?, ?)
     ON CONFLICT (person_id, name) DO NOTHING`,
    tokenId,
    personId,
    name,
    secretHash,
    createdAt,
    expiresAt,
  );
  return inserted === 1;
}

/** Gives a token another secret; its former secret is no longer valid. */
export async function replaceSecret(
  sql: Sql,
  tokenId: string,
  { secretHash, createdAt, expiresAt }: { secretHash: Buffer; createdAt: Micros; expiresAt: Micros | null },
): Promise<void> {
  await sql.run(
    'UPDATE person_tokens SET secret_hash = ?, created_at = ?, expires_at = ?, last_used_at = NULL WHERE token_id = ?',
    secretHash,
    createdAt,
    expiresAt,
    tokenId,
  );
}

export const deleteToken = async (sql: Sql, personId: string, tokenId: string): Promise<boolean> =>
  (await sql.run('DELETE FROM person_tokens WHERE token_id = ? AND person_id = ?', tokenId, personId)) > 0;

/** Stores the time of the last use; an earlier time than the stored one is ignored. */
export async function saveTokenUse(sql: Sql, tokenId: string, at: Micros): Promise<void> {
  await sql.run(
    'UPDATE person_tokens SET last_used_at = ? WHERE token_id = ? AND (last_used_at IS NULL OR last_used_at < ?)',
    at,
    tokenId,
    at,
  );
}
