import type { Sql } from '../../../platform/database/sql.ts';

/** A session of the console of administration; times in microseconds. */
export interface ConsoleSession {
  sessionId: string;
  createdAt: number;
  lastUsedAt: number;
  expiresAt: number;
  /** Of the browser, or of the proxy before the service. */
  address: string;
}

const COLUMNS = `session_id AS "sessionId", created_at AS "createdAt", last_used_at AS "lastUsedAt",
  expires_at AS "expiresAt", address`;

/** What makes a session good. */
export interface Proof {
  secretHash: Buffer;
  /** Of the administrator token that is good now. */
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

/** The session of a secret, whether or not its time is over. */
export const findSession = (sql: Sql, { secretHash, administrator }: Proof): Promise<ConsoleSession | undefined> =>
  sql.get(
    `SELECT ${COLUMNS} FROM console_sessions WHERE secret_hash = ? AND administrator = ?`,
    secretHash,
    administrator,
  );

/** The same by its name. */
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

/** Those that are still good at `now` when they were used since `usedSince`; who was used last comes first. */
export const listSessions = (
  sql: Sql,
  administrator: Buffer,
  { now, usedSince }: { now: number; usedSince: number },
): Promise<ConsoleSession[]> =>
  sql.all(
    `SELECT ${COLUMNS} FROM console_sessions WHERE administrator = ? AND expires_at > ? AND last_used_at > ?
     ORDER BY last_used_at DESC, session_id`,
    administrator,
    now,
    usedSince,
  );

/** Says that a session was used; never back in time. */
export async function saveUse(sql: Sql, sessionId: string, at: number): Promise<void> {
  await sql.run(
    'UPDATE console_sessions SET last_used_at = ? WHERE session_id = ? AND last_used_at < ?',
    at,
    sessionId,
    at,
  );
}

/** False when there is none. */
export const deleteSession = async (sql: Sql, sessionId: string): Promise<boolean> =>
  (await sql.run('DELETE FROM console_sessions WHERE session_id = ?', sessionId)) > 0;

/** Removes what is beyond the sessions that were used last, of which `kept` are left. */
export const deleteLeastUsed = (sql: Sql, kept: number): Promise<number> =>
  sql.run(
    `DELETE FROM console_sessions WHERE session_id NOT IN
       (SELECT session_id FROM console_sessions ORDER BY last_used_at DESC, session_id LIMIT ?)`,
    kept,
  );

/** Sessions that were not used after `before`, the oldest first. */
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

/** Removes one if it was not used since; answers how many went. */
export const deleteUnused = (sql: Sql, sessionId: string, before: number): Promise<number> =>
  sql.run('DELETE FROM console_sessions WHERE session_id = ? AND last_used_at < ?', sessionId, before);
