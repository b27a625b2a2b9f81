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

// Microseconds.
const MINUTE = 60_000_000;
/** A session lives so long at most. */
export const SESSION_LIFETIME = 12 * 60 * MINUTE;
/** It ends when it is not used for so long. */
export const SESSION_IDLE = 30 * MINUTE;
/** How exactly its last use is known: it is written so often at most. */
const USE_GRAIN = MINUTE;
/** Sessions at a time; one more ends the one that was not used for longest. */
export const MOST_SESSIONS = 100;
/** Wrong tokens of one address in a minute, on each node, that are told to be wrong; further ones are told to wait. */
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
 * The sessions of the console of administration: opened with the administrator token, good on all nodes, and until they
 * are ended, not used, too old, or the token is another one. They are looked up each time, so what ends one ends it at once.
 */
export function createConsoleSessions({ database, clock, ids, administratorToken }: Parts) {
  const wanted = hashSecret(administratorToken);
  const tries = createTokenBuckets({ clock, perSecond: LOGIN_TRIES / 60, size: LOGIN_TRIES });
  const watching = new Set<(sessionId: string) => void>();
  let hashing: Promise<Buffer> | undefined;
  /** Stands for the administrator token in the database; slow, because people may have thought of it. */
  function administrator(): Promise<Buffer> {
    hashing ??= slowHash(administratorToken, 'lapel console sessions', 16);
    return hashing;
  }

  const idleUntil = ({ lastUsedAt, expiresAt }: ConsoleSession): number =>
    Math.min(expiresAt, lastUsedAt + SESSION_IDLE);

  /** A session that is good, and used now; undefined for any other. */
  async function use(session: ConsoleSession | undefined): Promise<ConsoleSession | undefined> {
    const now = clock.now();
    if (!session || idleUntil(session) <= now) return undefined;
    if (now - session.lastUsedAt < USE_GRAIN) return session;
    await database.transactSoon((unit) => saveUse(unit, session.sessionId, now));
    return { ...session, lastUsedAt: now };
  }

  /**
   * Throws ADMIN_TOKEN_INVALID, or RATE_LIMITED for an address that has sent too many that were wrong. The token is judged
   * first: whoever has the right one is let in, whatever others send from the same address.
   */
  function checkToken(token: string, address: string): void {
    if (timingSafeEqual(hashSecret(token), wanted)) return;
    const left = tries.take(addressGroup(address));
    if (left && !left.allowed) throw new DomainError('RATE_LIMITED', { values: { seconds: left.waitSeconds } });
    throw new DomainError('ADMIN_TOKEN_INVALID');
  }

  /** The session of a secret, which is in use now; undefined when it is not good. */
  async function look(secret: string): Promise<ConsoleSession | undefined> {
    const proof = { secretHash: hashSecret(secret), administrator: await administrator() };
    return use(await findSession(database.read, proof));
  }

  return {
    idleUntil,

    /** Opens a session for who has the token. Throws ADMIN_TOKEN_INVALID and RATE_LIMITED. */
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

    /** The same. Throws SESSION_ENDED. */
    async find(secret: string): Promise<ConsoleSession> {
      const session = await look(secret);
      if (!session) throw new DomainError('SESSION_ENDED');
      return session;
    },

    /** True while a session is good, which is in use now: what is open for it asks from time to time. */
    async keep(sessionId: string): Promise<boolean> {
      return (await use(await findSessionById(database.read, sessionId, await administrator()))) !== undefined;
    },

    /** Those that are good; who was used last comes first. */
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

    /** Tells of sessions that are ended here; the returned function stops that. */
    onEnd(tell: (sessionId: string) => void): () => void {
      watching.add(tell);
      return () => watching.delete(tell);
    },
  };
}
