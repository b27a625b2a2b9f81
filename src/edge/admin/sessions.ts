import { DomainError } from '@lapel/schemas/contracts/errors';
import type { SchemaTypes } from '@lapel/schemas/contracts/types';
import { toUtc } from '../../runtime/clock.ts';
import { NO_STORE } from '../http/no-store.ts';
import type { Answer, Input } from '../http/route.ts';
import { type Administrator, bySession } from './authorize.ts';
import { actorOf } from './changes.ts';
import { whoIs } from './people.ts';
import type { AdminServices, At, By } from './services.ts';
import { checkOwnChange, checkOwnRead } from './sessions/own-page.ts';
import { cookieOf, noCookie, sessionSecret } from './sessions/session-cookie.ts';
import type { ConsoleSession } from './sessions/session-repository.ts';

type Services = Pick<AdminServices, 'sessions'>;
type Audited = Pick<AdminServices, 'sessions' | 'audit'>;
type Asked = Pick<Input, 'target' | 'requestId' | 'address' | 'headers'>;

/**
 * The entry of the audit log for a login or a logout. It is made here, because these routes accept requests without a
 * token, and the listener records only changes whose caller it knows.
 */
const change = (method: string, session: ConsoleSession, { target, requestId, address, headers }: Asked) => ({
  actor: actorOf(bySession(session), headers),
  method,
  route: target.path,
  path: target.path,
  requestId,
  address,
});

/** Records the login of a new session in the audit log. */
export async function recordSession(
  audit: AdminServices['audit'],
  { method, session, status }: { method: string; session: ConsoleSession; status: number },
  asked: Asked,
): Promise<void> {
  const begun = await audit.begin(change(method, session, asked));
  if (session.provider !== null) await begun.changed({ provider: session.provider });
  await begun.ended(status);
}

function secretOf({ headers }: Pick<Input, 'headers'>): string {
  const secret = sessionSecret(headers.cookie);
  if (secret === undefined) throw new DomainError('SESSION_ENDED');
  return secret;
}

/**
 * Opens a session for the holder of a token. The login is recorded in the audit log before the secret
 * is sent.
 */
export async function openSession(
  { sessions, audit }: Audited,
  input: At<never, 'admin/console-login'>,
): Promise<Answer> {
  const page = checkOwnChange(input.headers);
  const { session, secret } = await sessions.open(input.body.token, input.address);
  await recordSession(audit, { method: 'POST', session, status: 204 }, input);
  return { status: 204, headers: { ...NO_STORE, 'Set-Cookie': cookieOf(secret, page) } };
}

/**
 * Reads who is signed in, and the time at which the session ends. Without a session the answer is 204 and no error, because browsers
 * would report an error each time.
 */
export async function readOwnSession({ sessions }: Services, { headers }: Input): Promise<Answer> {
  checkOwnRead(headers);
  const secret = sessionSecret(headers.cookie);
  const session = secret === undefined ? undefined : await sessions.look(secret);
  if (!session) return { status: 204, headers: NO_STORE };
  const body: SchemaTypes['admin/console-session-state'] = {
    expiresAt: toUtc(session.expiresAt),
    idleUntil: toUtc(sessions.idleUntil(session)),
    ...whoIs(bySession(session)),
  };
  return { status: 200, headers: NO_STORE, body };
}

/** Ends the caller's session. A browser that has signed in through a provider goes on to sign out there as well. */
export async function closeSession(
  { sessions, signIns, audit }: Audited & Pick<AdminServices, 'signIns'>,
  input: Input,
): Promise<Answer> {
  const page = checkOwnChange(input.headers);
  const session = await sessions.find(secretOf(input));
  const begun = await audit.begin(change('DELETE', session, input));
  await sessions.end(session.sessionId);
  const url = await signIns.leave(session.provider, page.origin);
  const status = url === null ? 204 : 200;
  await begun.ended(status);
  const headers = { ...NO_STORE, 'Set-Cookie': noCookie(page) };
  if (url === null) return { status, headers };
  const body: SchemaTypes['admin/leading-url'] = { url };
  return { status, headers, body };
}

/** Whether a caller may see and end the sessions of everybody, or their own only. */
const isForAll = ({ role }: Administrator): boolean => role === 'owner';

/** Lists the valid sessions: an owner sees those of everybody, others see their own. */
export async function listSessions({ sessions }: Services, { caller }: By): Promise<Answer> {
  const own = caller.kind === 'session' ? caller.sessionId : undefined;
  const all = await sessions.list();
  const shown = isForAll(caller) ? all : all.filter(({ personId }) => personId === caller.person?.personId);
  const body: SchemaTypes['admin/console-session-list'] = {
    sessions: shown.map(({ sessionId, createdAt, lastUsedAt, expiresAt, address, ...who }) => ({
      sessionId,
      createdAt: toUtc(createdAt),
      lastUsedAt: toUtc(lastUsedAt),
      expiresAt: toUtc(expiresAt),
      address,
      own: sessionId === own,
      personId: who.personId,
      name: who.name,
    })),
  };
  return { status: 200, body };
}

/** Ends a session of the console, also one that is not the caller's own. Only an owner ends sessions of others. */
export async function endSession({ sessions }: Services, { params, caller }: By<'sessionId'>): Promise<Answer> {
  await sessions.end(params.sessionId, isForAll(caller) ? undefined : (caller.person?.personId ?? ''));
  return { status: 204 };
}
