import type { Role } from '../../../core/people/roles.ts';
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
  /** The person whose token opened the session; null for the administrator token. */
  personId: string | null;
  tokenId: string | null;
  /** What is known of the person and the token now; null for the administrator token. */
  name: string | null;
  role: Role | null;
  tokenName: string | null;
  /** The providerId of the provider through which the person has signed in; null for a token. */
  provider: string | null;
}

/** A session as it is opened. */
export interface NewSession
  extends Omit<ConsoleSession, 'name' | 'role' | 'tokenName' | 'personId' | 'tokenId'>,
    Pick<ConsoleSession, 'personId' | 'tokenId'> {
  secretHash: Buffer;
  /**
   * Binds the session to the token that opened it: the hash of the administrator token, or that of the person's token.
   * The session ends when that token gets another value. Without a token, it is the hash of who the person is at their
   * provider.
   */
  proof: Buffer;
}

const COLUMNS = `s.session_id AS "sessionId", s.created_at AS "createdAt", s.last_used_at AS "lastUsedAt",
  s.expires_at AS "expiresAt", s.address, s.person_id AS "personId", s.token_id AS "tokenId", p.name, p.role,
  t.name AS "tokenName", s.provider`;

/** The conditions, apart from the age, under which sessions are valid. */
export interface Validity {
  now: Micros;
  /** The hash of the administrator token; null while that token is refused. */
  administrator: Buffer | null;
}

/**
 * The sessions whose token is valid: the administrator token with this hash, or a token that its person still has, with
 * the same secret; and those of people who have signed in through a provider. A hash of the first kind cannot equal one
 * of the others, because it is shorter.
 */
const VALID = `FROM console_sessions s
  LEFT JOIN person_tokens t ON t.token_id = s.token_id AND t.secret_hash = s.administrator
  LEFT JOIN people p ON p.person_id = s.person_id
  WHERE ((s.token_id IS NULL AND s.person_id IS NULL AND s.administrator = ?)
    OR (p.disabled = 0 AND t.person_id = p.person_id AND (t.expires_at IS NULL OR t.expires_at > ?))
    OR (p.disabled = 0 AND s.token_id IS NULL AND p.login_hash = s.administrator))`;
const NO_HASH = Buffer.alloc(0);
const validAt = ({ administrator, now }: Validity): [Buffer, Micros] => [administrator ?? NO_HASH, now];

export async function insertSession(sql: Sql, session: NewSession): Promise<void> {
  await sql.run(
    `INSERT INTO console_sessions
       (session_id, secret_hash, administrator, created_at, last_used_at, expires_at, address, person_id, token_id,
        provider)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    session.sessionId,
    session.secretHash,
    session.proof,
    session.createdAt,
    session.lastUsedAt,
    session.expiresAt,
    session.address,
    session.personId,
    session.tokenId,
    session.provider,
  );
}

/** Finds the session of a secret, expired or not, if its token is valid. */
export const findSession = (sql: Sql, secretHash: Buffer, validity: Validity): Promise<ConsoleSession | undefined> =>
  sql.get(`SELECT ${COLUMNS} ${VALID} AND s.secret_hash = ?`, ...validAt(validity), secretHash);

/** Finds the session by its sessionId, expired or not, if its token is valid. */
export const findSessionById = (sql: Sql, sessionId: string, validity: Validity): Promise<ConsoleSession | undefined> =>
  sql.get(`SELECT ${COLUMNS} ${VALID} AND s.session_id = ?`, ...validAt(validity), sessionId);

/** Lists the sessions that have not expired at `now` and were used since `usedSince`, the last used one first. */
export const listSessions = (sql: Sql, usedSince: number, validity: Validity): Promise<ConsoleSession[]> =>
  sql.all(
    `SELECT ${COLUMNS} ${VALID} AND s.expires_at > ? AND s.last_used_at > ?
     ORDER BY s.last_used_at DESC, s.session_id`,
    ...validAt(validity),
    validity.now,
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

/** Deletes a session of anybody, or of one person only. Returns false when there is no such session. */
export const deleteSession = async (sql: Sql, sessionId: string, personId?: string): Promise<boolean> =>
  (await (personId === undefined
    ? sql.run('DELETE FROM console_sessions WHERE session_id = ?', sessionId)
    : sql.run('DELETE FROM console_sessions WHERE session_id = ? AND person_id = ?', sessionId, personId))) > 0;

/**
 * Deletes the sessions of a person (null: of the administrator token) except the `kept` ones that were used last, so that
 * nobody ends the sessions of others by opening many.
 */
export async function deleteLeastUsed(sql: Sql, personId: string | null, kept: number): Promise<void> {
  await sql.run(
    `DELETE FROM console_sessions WHERE COALESCE(person_id, '') = ? AND session_id NOT IN
       (SELECT session_id FROM console_sessions WHERE COALESCE(person_id, '') = ?
        ORDER BY last_used_at DESC, session_id LIMIT ?)`,
    personId ?? '',
    personId ?? '',
    kept,
  );
}

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
