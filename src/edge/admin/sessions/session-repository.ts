import type { Sql } from '../../../platform/database/sql.ts';
import type { Micros } from '../../../runtime/units.ts';

/** A session of the console of administration; times in microseconds. */
export interface ConsoleSession {
  sessionId: string;
  createdAt: Micros;
  lastUsedAt: Micros;
  expiresAt: Micros;
  /** The address of the browser, or of the proxy in front of the service. */
  address: string;
}

const COLUMNS = `session_id AS "sessionId", created_at AS "createdAt", last_used_at AS "lastUsedAt",
  expires_at AS "expiresAt", address`;

/**
 * The two hashes that a stored session must match: of its secret, and of the administrator token that it was opened
 * with.
 */
export interface Proof {
  secretHash: Buffer;
  /** The hash of the current administrator token. */
  administrator: Buffer;
}

export async function insertSession(sql: Sql, session: ConsoleSession & Proof): Promise<void> {
  await sql.run(
    `INSERT INTO console_sessions (session_id, secret_hash, administrator, created_at, last_used_at, expires_at, address)
     VALUES (?, ?, ?, ?, ?, ?, ?)`,
    session.sessionId,
    session.secretHash,
    session.administrator,
    session.createdAt,
    session.lastUsedAt,
    session.expiresAt,
    session.address,
  );
}

/** Finds the session of a secret, expired or not. */
export const findSession = (sql: Sql, { secretHash, administrator }: Proof): Promise<ConsoleSession | undefined> =>
  sql.get(
    `SELECT ${COLUMNS} FROM console_sessions WHERE secret_hash = ? AND administrator = ?`,
    secretHash,
    administrator,
  );

/** Finds the session by its sessionId, expired or not. */
export const findSessionById = (
  sql: Sql,
  sessionId: string,
  administrator: Buffer,
): Promise<ConsoleSession | undefined> =>
  sql.get(
    `SELECT ${COLUMNS} FROM console_sessions WHERE session_id = ? AND administrator = ?`,
    sessionId,
    administrator,
  );

/** Lists the sessions that have not expired at `now` and were used since `usedSince`, the last used one first. */
export const listSessions = (
  sql: Sql,
  administrator: Buffer,
  { now, usedSince }: { now: Micros; usedSince: number },
): Promise<ConsoleSession[]> =>
  sql.all(
    `SELECT ${COLUMNS} FROM console_sessions WHERE administrator = ? AND expires_at > ? AND last_used_at > ?
     ORDER BY last_used_at DESC, session_id`,
    administrator,
    now,
    usedSince,
  );

/** Stores the time of the last use of a session; an earlier time than the stored one is ignored. */
export async function saveUse(sql: Sql, sessionId: string, at: number): Promise<void> {
  await sql.run(
    'UPDATE console_sessions SET last_used_at = ? WHERE session_id = ? AND last_used_at < ?',
    at,
    sessionId,
    at,
  );
}

/** Deletes a session. Returns false when there is no such session. */
export const deleteSession = async (sql: Sql, sessionId: string): Promise<boolean> =>
  (await sql.run('DELETE FROM console_sessions WHERE session_id = ?', sessionId)) > 0;

/** Deletes all sessions except the `kept` ones that were used last. Returns their number. */
export const deleteLeastUsed = (sql: Sql, kept: number): Promise<number> =>
  sql.run(
    `DELETE FROM console_sessions WHERE session_id NOT IN
       (SELECT session_id FROM console_sessions ORDER BY last_used_at DESC, session_id LIMIT ?)`,
    kept,
  );

/** Finds sessions that were last used before `before`, the oldest first. */
export const findUnused = (
  sql: Sql,
  before: number,
  limit: number,
): Promise<{ sessionId: string; lastUsedAt: number }[]> =>
  sql.all(
    `SELECT session_id AS "sessionId", last_used_at AS "lastUsedAt" FROM console_sessions
     WHERE last_used_at < ? ORDER BY last_used_at LIMIT ?`,
    before,
    limit,
  );

/** Deletes a session if it was not used since `before`. Returns the number of deleted rows. */
export const deleteUnused = (sql: Sql, sessionId: string, before: number): Promise<number> =>
  sql.run('DELETE FROM console_sessions WHERE session_id = ? AND last_used_at < ?', sessionId, before);
