import type { IncomingMessage } from 'node:http';
import { DomainError } from '@lapel/schemas/contracts/errors';
import type { Identity, People } from '../../core/people/people.ts';
import { mayAs, type Role } from '../../core/people/roles.ts';
import { behindBearer } from '../http/bearer.ts';
import type { Holder, IdentifyToken } from './identify.ts';
import { checkOwnChange, checkOwnRead } from './sessions/own-page.ts';
import { sessionSecret } from './sessions/session-cookie.ts';
import type { ConsoleSession } from './sessions/session-repository.ts';
import type { ConsoleSessions } from './sessions/sessions.ts';

/** A person as a caller: by a token, or by a session that one of their tokens, or their provider, opened. */
export interface Person {
  personId: string;
  name: string;
  /** Null for a session of a provider. */
  tokenName: string | null;
}

/** The caller of administration, identified by a token or by a session of the console. */
export type Administrator = { role: Role; person: Person | null } & (
  | { kind: 'token'; identity: Identity | null; digest: Buffer }
  | { kind: 'session'; sessionId: string }
);

interface Parts {
  identify: IdentifyToken;
  people: Pick<People, 'again'>;
  sessions: Pick<ConsoleSessions, 'find' | 'keep'>;
}
type Asked = Pick<IncomingMessage, 'headers' | 'method'>;

const READS: ReadonlySet<string | undefined> = new Set(['GET', 'HEAD']);

const byToken = ({ role, person, digest }: Holder): Administrator => ({
  kind: 'token',
  role,
  person,
  identity: person,
  digest,
});

/** The caller that a session of the console stands for. */
export const bySession = ({ sessionId, personId, name, role, tokenName }: ConsoleSession): Administrator => ({
  kind: 'session',
  sessionId,
  // Only a session of the administrator token has no person.
  role: role ?? 'owner',
  person: personId === null ? null : { personId, name: name ?? '', tokenName },
});

/**
 * Accepts a token of administration, or the cookie of a session in requests of the console itself, of somebody with the
 * role that the route needs. Throws ADMIN_TOKEN_INVALID, SESSION_ENDED, CONSOLE_REQUEST_FORGED and ROLE_INSUFFICIENT.
 */
export function createAuthorize({ identify, sessions }: Pick<Parts, 'identify' | 'sessions'>) {
  async function find({ headers, method }: Asked): Promise<Administrator> {
    const { authorization, cookie } = headers;
    const secret = authorization === undefined ? sessionSecret(cookie) : undefined;
    if (secret !== undefined) {
      if (READS.has(method)) checkOwnRead(headers);
      else checkOwnChange(headers);
      return bySession(await sessions.find(secret));
    }
    const holder = await identify.token(behindBearer(authorization) ?? '');
    if (!holder) throw new DomainError('ADMIN_TOKEN_INVALID');
    return byToken(holder);
  }

  return async (asked: Asked, needed: string): Promise<Administrator> => {
    const caller = await find(asked);
    if (!mayAs(caller.role, needed as Role))
      throw new DomainError('ROLE_INSUFFICIENT', {
        values: { role: needed, own: caller.role, ...(caller.person && { personId: caller.person.personId }) },
      });
    return caller;
  };
}

/**
 * Makes the test whether a caller is still who they were, with the same role. Open streams ask it from time to time, and
 * when somebody was changed.
 */
export const createStillGood =
  ({ identify, people, sessions }: Parts) =>
  async (caller: Administrator): Promise<boolean> => {
    if (caller.kind === 'session') {
      const session = await sessions.keep(caller.sessionId);
      return session !== undefined && bySession(session).role === caller.role;
    }
    if (caller.identity === null) return identify.stillAdministrator(caller.digest);
    return (await people.again(caller.identity))?.role === caller.role;
  };
