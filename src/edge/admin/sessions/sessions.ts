import { DomainError } from '@lapel/schemas/contracts/errors';
import type { People } from '../../../core/people/people.ts';
import type { Database } from '../../../platform/database/sql.ts';
import type { Clock } from '../../../runtime/clock.ts';
import type { Ids } from '../../../runtime/ids.ts';
import { hashSecret } from '../../../runtime/secret-hash.ts';
import { addressGroup } from '../../../runtime/socket-bounds.ts';
import { createTokenBuckets } from '../../../runtime/token-buckets.ts';
import type { IdentifyToken } from '../identify.ts';
import {
  type ConsoleSession,
  deleteLeastUsed,
  deleteSession,
  findSession,
  findSessionById,
  insertSession,
  listSessions,
  saveUse,
  type Validity,
} from './session-repository.ts';

// All times below are in microseconds.
const MINUTE = 60_000_000;
/** The longest life of a session. */
export const SESSION_LIFETIME = 12 * 60 * MINUTE;
/** A session ends when it is not used for this long. */
export const SESSION_IDLE = 30 * MINUTE;
/** The last use of a session is stored at most this often. */
const USE_PRECISION = MINUTE;
/**
 * The most simultaneous sessions of one person, and of the administrator token; a further one ends the own session that
 * was not used for longest.
 */
export const MOST_SESSIONS = 20;
export const MOST_SESSIONS_OF_TOKEN = 100;
/**
 * Requests with a wrong token, per minute, address and node, that are answered as wrong; further ones are answered 429.
 */
export const LOGIN_TRIES = 5;

interface Parts {
  database: Pick<Database, 'read' | 'transact'>;
  clock: Clock;
  ids: Ids;
  identify: IdentifyToken;
  people: Pick<People, 'isTokenAccepted'>;
  /** The providers of the settings: sessions of others have ended. */
  providers: ReadonlySet<string>;
  /** Called when a session was ended, so that its streams can be ended, on all nodes. */
  ended(sessionId: string): void;
}

/** Whose session it is. */
type Who = Pick<ConsoleSession, 'personId' | 'tokenId' | 'name' | 'role' | 'tokenName' | 'provider'>;
interface Opened {
  session: ConsoleSession;
  secret: string;
}

export type ConsoleSessions = ReturnType<typeof createConsoleSessions>;

/**
 * The sessions of the console of administration. They are opened with a token, and valid on all nodes. A session ends when
 * somebody ends it, when it is unused or too old, and when its token is revoked, expires or gets another value, or its
 * person is disabled. The session is looked up for each request, so its end has an effect at once.
 */
export function createConsoleSessions({ database, clock, ids, identify, people, providers, ended }: Parts) {
  const tries = createTokenBuckets({ clock, perSecond: LOGIN_TRIES / 60, size: LOGIN_TRIES });

  const validity = async (): Promise<Validity> => ({
    now: clock.now(),
    administrator: (await people.isTokenAccepted()) ? await identify.administrator() : null,
  });

  const idleUntil = ({ lastUsedAt, expiresAt }: ConsoleSession): number =>
    Math.min(expiresAt, lastUsedAt + SESSION_IDLE);

  const isKnown = ({ provider }: ConsoleSession): boolean => provider === null || providers.has(provider);

  /** Marks a valid session as used now; undefined when the session is not valid. */
  async function use(session: ConsoleSession | undefined): Promise<ConsoleSession | undefined> {
    const now = clock.now();
    if (!session || idleUntil(session) <= now || !isKnown(session)) return undefined;
    if (now - session.lastUsedAt < USE_PRECISION) return session;
    await database.transact((unit) => saveUse(unit, session.sessionId, now), { pace: 'soon' });
    return { ...session, lastUsedAt: now };
  }

  /** Throws ADMIN_TOKEN_INVALID, or RATE_LIMITED for an address that has sent too many wrong tokens. */
  function refuse(address: string): never {
    const left = tries.take(addressGroup(address));
    if (left && !left.allowed) throw new DomainError('RATE_LIMITED', { values: { seconds: left.waitSeconds } });
    throw new DomainError('ADMIN_TOKEN_INVALID');
  }

  /** Finds the session of a secret and marks it as used; undefined when it is not valid. */
  async function look(secret: string): Promise<ConsoleSession | undefined> {
    return use(await findSession(database.read, hashSecret(secret), await validity()));
  }

  async function begin(address: string, { proof, ...who }: Who & { proof: Buffer }): Promise<Opened> {
    const secret = ids.secret();
    const now = clock.now();
    const times = { createdAt: now, lastUsedAt: now, expiresAt: now + SESSION_LIFETIME };
    const session = { sessionId: ids.next('session', now), ...times, address, ...who };
    await database.transact(async (unit) => {
      await insertSession(unit, { ...session, secretHash: hashSecret(secret), proof });
      await deleteLeastUsed(unit, who.personId, who.personId === null ? MOST_SESSIONS_OF_TOKEN : MOST_SESSIONS);
    });
    return { session, secret };
  }

  return {
    idleUntil,

    /**
     * Opens a session for the holder of a token. Throws ADMIN_TOKEN_INVALID and RATE_LIMITED. The token is checked
     * first, so a right one is accepted whatever others send from the same address.
     */
    async open(token: string, address: string): Promise<Opened> {
      const { person, role } = (await identify.token(token)) ?? refuse(address);
      return begin(address, {
        personId: person?.personId ?? null,
        tokenId: person?.tokenId ?? null,
        name: person?.name ?? null,
        role: person ? role : null,
        tokenName: person?.tokenName ?? null,
        provider: null,
        proof: person?.secretHash ?? (await identify.administrator()),
      });
    },

    /** Opens a session for a person who has signed in through a provider. */
    openFor: (
      { personId, name, role, loginHash: proof }: Awaited<ReturnType<People['signIn']>>,
      { provider, address }: { provider: string; address: string },
    ): Promise<Opened> => begin(address, { personId, name, role, provider, proof, tokenId: null, tokenName: null }),

    look,

    /** Finds the session of a secret and marks it as used. Throws SESSION_ENDED when the session is not valid. */
    async find(secret: string): Promise<ConsoleSession> {
      const session = await look(secret);
      if (!session) throw new DomainError('SESSION_ENDED');
      return session;
    },

    /** Marks a session as used; undefined when it is no longer valid. Open streams call this from time to time. */
    keep: async (sessionId: string): Promise<ConsoleSession | undefined> =>
      use(await findSessionById(database.read, sessionId, await validity())),

    /** Lists the valid sessions, the last used one first. */
    list: async (): Promise<ConsoleSession[]> =>
      (await listSessions(database.read, clock.now() - SESSION_IDLE, await validity())).filter(isKnown),

    /** Ends a session of anybody, or of one person only. Throws SESSION_NOT_FOUND. */
    async end(sessionId: string, personId?: string): Promise<void> {
      await database.transact(async (unit) => {
        if (!(await deleteSession(unit, sessionId, personId))) throw new DomainError('SESSION_NOT_FOUND');
        unit.onCommit(() => ended(sessionId));
      });
    },
  };
}
