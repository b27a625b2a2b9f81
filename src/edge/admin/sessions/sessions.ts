import { scrypt, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { DomainError } from '../../../errors.ts';
import type { Database } from '../../../platform/database/sql.ts';
import type { Clock } from '../../../runtime/clock.ts';
import type { Ids } from '../../../runtime/ids.ts';
import { hashSecret } from '../../../runtime/secret-hash.ts';
import { addressGroup } from '../../../runtime/socket-bounds.ts';
import { createTokenBuckets } from '../../../runtime/token-buckets.ts';
import {
  type ConsoleSession,
  deleteLeastUsed,
  deleteSession,
  findSession,
  findSessionById,
  insertSession,
  listSessions,
  saveUse,
} from './session-repository.ts';

// All times below are in microseconds.
const MINUTE = 60_000_000;
/** The longest life of a session. */
export const SESSION_LIFETIME = 12 * 60 * MINUTE;
/** A session ends when it is not used for this long. */
export const SESSION_IDLE = 30 * MINUTE;
/** The last use of a session is stored at most this often. */
const USE_PRECISION = MINUTE;
/** The most simultaneous sessions; a further one ends the session that was not used for longest. */
export const MOST_SESSIONS = 100;
/**
 * Requests with a wrong token, per minute, address and node, that are answered as wrong; further ones are answered 429.
 */
export const LOGIN_TRIES = 5;

interface Parts {
  database: Pick<Database, 'read' | 'transact' | 'transactSoon'>;
  clock: Clock;
  ids: Ids;
  administratorToken: string;
}

export type ConsoleSessions = ReturnType<typeof createConsoleSessions>;

const slowHash = promisify(scrypt) as (secret: string, salt: string, length: number) => Promise<Buffer>;

/**
 * The sessions of the console of administration. They are opened with the administrator token and valid on all nodes. A
 * session ends when somebody ends it, when it is unused or too old, and when the token changes. The session is looked
 * up for each request, so its end has an effect at once.
 */
export function createConsoleSessions({ database, clock, ids, administratorToken }: Parts) {
  const wanted = hashSecret(administratorToken);
  const tries = createTokenBuckets({ clock, perSecond: LOGIN_TRIES / 60, size: LOGIN_TRIES });
  const watching = new Set<(sessionId: string) => void>();
  let hashing: Promise<Buffer> | undefined;
  /**
   * The hash of the administrator token in the database. It is a slow hash, because people may have chosen the token.
   */
  function administrator(): Promise<Buffer> {
    hashing ??= slowHash(administratorToken, 'lapel console sessions', 16);
    return hashing;
  }

  const idleUntil = ({ lastUsedAt, expiresAt }: ConsoleSession): number =>
    Math.min(expiresAt, lastUsedAt + SESSION_IDLE);

  /** Marks a valid session as used now; undefined when the session is not valid. */
  async function use(session: ConsoleSession | undefined): Promise<ConsoleSession | undefined> {
    const now = clock.now();
    if (!session || idleUntil(session) <= now) return undefined;
    if (now - session.lastUsedAt < USE_PRECISION) return session;
    await database.transactSoon((unit) => saveUse(unit, session.sessionId, now));
    return { ...session, lastUsedAt: now };
  }

  /**
   * Throws ADMIN_TOKEN_INVALID, or RATE_LIMITED for an address that has sent too many wrong tokens. The token is
   * checked first, so the right one is accepted whatever others send from the same address.
   */
  function checkToken(token: string, address: string): void {
    if (timingSafeEqual(hashSecret(token), wanted)) return;
    const left = tries.take(addressGroup(address));
    if (left && !left.allowed) throw new DomainError('RATE_LIMITED', { values: { seconds: left.waitSeconds } });
    throw new DomainError('ADMIN_TOKEN_INVALID');
  }

  /** Finds the session of a secret and marks it as used; undefined when it is not valid. */
  async function look(secret: string): Promise<ConsoleSession | undefined> {
    const proof = { secretHash: hashSecret(secret), administrator: await administrator() };
    return use(await findSession(database.read, proof));
  }

  return {
    idleUntil,

    /** Opens a session for the holder of the token. Throws ADMIN_TOKEN_INVALID and RATE_LIMITED. */
    async open(token: string, address: string): Promise<{ sessionId: string; secret: string }> {
      checkToken(token, address);
      const secret = ids.secret();
      const now = clock.now();
      const session = {
        sessionId: ids.next('session', now),
        secretHash: hashSecret(secret),
        administrator: await administrator(),
        createdAt: now,
        lastUsedAt: now,
        expiresAt: now + SESSION_LIFETIME,
        address,
      };
      await database.transact(async (unit) => {
        await insertSession(unit, session);
        await deleteLeastUsed(unit, MOST_SESSIONS);
      });
      return { sessionId: session.sessionId, secret };
    },

    look,

    /** Finds the session of a secret and marks it as used. Throws SESSION_ENDED when the session is not valid. */
    async find(secret: string): Promise<ConsoleSession> {
      const session = await look(secret);
      if (!session) throw new DomainError('SESSION_ENDED');
      return session;
    },

    /** Marks a session as used; false when it is no longer valid. Open streams call this from time to time. */
    async keep(sessionId: string): Promise<boolean> {
      return (await use(await findSessionById(database.read, sessionId, await administrator()))) !== undefined;
    },

    /** Lists the valid sessions, the last used one first. */
    list: async (): Promise<ConsoleSession[]> =>
      listSessions(database.read, await administrator(), {
        now: clock.now(),
        usedSince: clock.now() - SESSION_IDLE,
      }),

    /** Ends a session. Throws SESSION_NOT_FOUND. */
    async end(sessionId: string): Promise<void> {
      await database.transact(async (unit) => {
        if (!(await deleteSession(unit, sessionId))) throw new DomainError('SESSION_NOT_FOUND');
        unit.onCommit(() => {
          for (const tell of watching) tell(sessionId);
        });
      });
    },

    /** Calls `tell` for each session that is ended on this node, until the returned function is called. */
    onEnd(tell: (sessionId: string) => void): () => void {
      watching.add(tell);
      return () => watching.delete(tell);
    },
  };
}
