import { signal } from '@preact/signals';
import { ROLE, ROOT } from './place.ts';
import { wordsOf } from './words.ts';

interface Session {
  /** Of an application: who it is, and what it may do. The token is in memory only. */
  applicationId: string | null;
  accessToken: string | null;
  scopes: readonly string[];
}

/** Undefined until it is known whether there is one; null without one. */
export const session = signal<Session | null | undefined>(ROLE === 'operator' ? undefined : null);
/** Why there is no session any more; null when nobody was put out. */
export const farewell = signal<string | null>(null);

/** Whether who looks may also act: on devices, or on what is the application's own. The operator may. */
export const mayChange = (what: 'application' | 'device'): boolean =>
  ROLE === 'operator' || (session.value?.scopes.includes(`svc:${what}:write`) ?? false);

const OPERATOR: Session = { applicationId: null, accessToken: null, scopes: [] };
const OWN = { 'X-Lapel-Console': '1' };
const SESSION = `${ROOT}/console/session`;

/** The session has come to its end: it ran out, or somebody ended it. */
export function ended(): void {
  if (session.value) farewell.value = 'Your session has ended. Sign in again to go on where you were.';
  session.value = null;
}

/** Whether the operator's session is still there; it outlives a restart of the service. False when the service cannot be reached. */
export async function resume(): Promise<boolean> {
  if (ROLE === 'application') return true;
  try {
    const response = await fetch(SESSION, { headers: OWN, cache: 'no-store' });
    if (response.status >= 500) return false;
    session.value = response.status === 200 ? (session.peek() ?? OPERATOR) : null;
    return true;
  } catch {
    return false;
  }
}

async function words(response: Response): Promise<string> {
  if (response.status === 429) return 'Too many tries. Wait a minute, then try again.';
  return wordsOf(await response.json().catch(() => null)) ?? `The service answered ${response.status}.`;
}

/** Signs an operator in by the administrator token. Answers what is wrong, or null. */
export async function signInOperator(token: string): Promise<string | null> {
  const headers = { ...OWN, 'Content-Type': 'application/json' };
  const response = await fetch(SESSION, { method: 'POST', headers, body: JSON.stringify({ token }) });
  if (!response.ok) return response.status === 401 ? 'That is not the administrator token.' : words(response);
  farewell.value = null;
  session.value = OPERATOR;
  return null;
}

const LOOKING = ['svc:application:read', 'svc:device:read'];
const ACTING = [...LOOKING, 'svc:application:write', 'svc:device:write'];

/**
 * Signs an application in, to look only or also to act; answers what is wrong, or null. Its secret is not kept: when the
 * token has run out, it is asked for again.
 */
export async function signInApplication(
  applicationId: string,
  secret: string,
  { acts }: { acts: boolean },
): Promise<string | null> {
  const basic = btoa(String.fromCodePoint(...new TextEncoder().encode(`${applicationId}:${secret}`)));
  const response = await fetch(`${ROOT}/api/v1/authenticate`, {
    method: 'POST',
    credentials: 'omit', // else the browser asks for them itself when they are wrong
    headers: { Authorization: `Basic ${basic}` },
    body: new URLSearchParams({ grant_type: 'client_credentials', scope: (acts ? ACTING : LOOKING).join(' ') }),
  });
  if (!response.ok) return response.status === 401 ? 'The application or its secret is wrong.' : words(response);
  const { access_token: accessToken, scope = '' } = (await response.json()) as { access_token: string; scope?: string };
  farewell.value = null;
  session.value = { applicationId, accessToken, scopes: scope.split(' ').filter(Boolean) };
  return null;
}

export async function signOut(): Promise<void> {
  if (ROLE === 'operator') await fetch(SESSION, { method: 'DELETE', headers: OWN });
  farewell.value = null;
  session.value = null;
}
