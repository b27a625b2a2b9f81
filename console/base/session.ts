import { batch, signal } from '@preact/signals';
import { forgetToken, keepToken, keptToken } from './kept-token.ts';
import { APPLICATION, OPERATOR as OPERATIONS, PUBLIC } from './operations.ts';
import { ROLE, ROOT } from './place.ts';
import { wordsOf } from './words.ts';

interface Session {
  /** The applicationId of an application; null for the operator. */
  applicationId: string | null;
  accessToken: string | null;
  scopes: readonly string[];
  /** The person who administers the service; null for an application. */
  person: Signed | null;
  /** The person of the developer whose token it is; null for the secret of an application, and for the operator. */
  member: SignedMember | null;
}

/** A person of a developer. */
export interface SignedMember {
  memberId: string;
  name: string;
  role: string;
}

/** The person who is signed in to administration. With the administrator token, `personId` and `name` are null. */
export interface Signed {
  role: Role;
  personId: string | null;
  name: string | null;
  token: string | null;
}

/** The roles of administration, the mightiest first: each may do what the roles behind it may do. */
export const ROLES = ['owner', 'operator', 'support', 'reader'] as const;
export type Role = (typeof ROLES)[number];

/** Undefined until it is known whether there is a session; null without one. */
export const session = signal<Session | null | undefined>(undefined);
/** The reason why the session ended; null when the user signed out, or was never signed in. */
export const endReason = signal<string | null>(null);
/**
 * The user of the pages that are shown, or are kept while somebody signs in again: an applicationId, or `operator`.
 * Nobody else may see them, so they go when another user signs in.
 */
export const owner = signal<string | null>(null);

type OperatorName = keyof typeof OPERATIONS;

/** Whether the role of the person who is signed in permits an operation of administration. */
export function permits(name: OperatorName): boolean {
  const role = session.value?.person?.role;
  return role !== undefined && ROLES.indexOf(role) <= ROLES.indexOf(OPERATIONS[name].role);
}

/**
 * Whether the user may make changes: an application to its devices (`device`), or to its own settings and software
 * (`application`); a person of administration by the operation that the same page then uses, if there is one.
 */
export const mayChange = (what: 'application' | 'device', ofOperator?: OperatorName): boolean =>
  ROLE === 'operator'
    ? ofOperator !== undefined && permits(ofOperator)
    : (session.value?.scopes.includes(`svc:${what}:write`) ?? false);

const sessionOf = (person: Signed): Session => ({
  applicationId: null,
  accessToken: null,
  scopes: [],
  person,
  member: null,
});
const OWN = { 'X-Lapel-Console': '1' };

/** Called when the session has expired, or somebody has ended it. The pages are kept, with all that was typed. */
export function ended(): void {
  forgetToken();
  if (session.peek()) endReason.value = 'Your session has ended. Sign in again to continue where you were.';
  session.value = null;
}

function begin(next: Session): void {
  batch(() => {
    endReason.value = null;
    owner.value = next.applicationId ?? next.person?.personId ?? 'operator';
    session.value = next;
  });
}

/**
 * Checks whether the session still exists. That of the operator survives a restart of the service; that of an application
 * a reload of the page. Returns false when the service cannot be reached.
 */
export async function resume(): Promise<boolean> {
  if (ROLE === 'application') {
    if (session.peek() === undefined) resumeApplication();
    return true;
  }
  try {
    const response = await fetch(ROOT + PUBLIC.readOwnSession.path, { headers: OWN, cache: 'no-store' });
    if (response.status >= 500) return false;
    if (response.status === 200) takeOver((await response.json()) as Signed);
    else ended();
    return true;
  } catch {
    return false;
  }
}

/** Begins the session of somebody, or takes over the role or name that they now have. */
function takeOver(person: Signed): void {
  const now = session.peek()?.person;
  if (!now || JSON.stringify(now) !== JSON.stringify(signed(person))) begin(sessionOf(signed(person)));
}

const signed = ({ role, personId, name, token }: Signed): Signed => ({ role, personId, name, token });

/**
 * Continues with the session that the operator has begun in another window, when the user comes back to this one. An
 * application has a session in each window.
 */
export function followSession(): void {
  if (ROLE === 'application') return;
  const look = (): void => {
    if (!document.hidden && session.peek() === null && owner.peek() !== null) void resume();
  };
  addEventListener('focus', look);
  document.addEventListener('visibilitychange', look);
}

/** Continues with the token of this tab, if there is one. The first request says when it is no longer valid. */
function resumeApplication(): void {
  const kept = keptToken();
  if (kept) begin({ ...kept, person: null });
  else session.value = null;
}

async function words(response: Response): Promise<string> {
  if (response.status === 429) return 'Too many attempts. Wait a minute, then try again.';
  return wordsOf(await response.json().catch(() => null)) ?? `The service answered ${response.status}.`;
}

/** Signs somebody in to administration with a token. Returns an error text, or null. */
export async function signInOperator(token: string): Promise<string | null> {
  const headers = { ...OWN, 'Content-Type': 'application/json' };
  const { method, path } = PUBLIC.openSession;
  const response = await fetch(ROOT + path, { method, headers, body: JSON.stringify({ token }) });
  if (!response.ok)
    return response.status === 401 ? 'The administrator token is wrong, or no longer valid.' : words(response);
  return (await resume()) ? null : 'The service cannot be reached.';
}

const OWN_ACCESS = `/v1/applications/{applicationId}${APPLICATION.readOwnAccess.path}`;
const LOOKING = ['svc:application:read', 'svc:device:read'];
const ACTING = [...LOOKING, 'svc:application:write', 'svc:device:write'];

/**
 * Signs an application in, with the right to read only or also to make changes. Returns an error text, or null. The
 * secret is not kept, so the user is asked again when the token has expired.
 */
export async function signInApplication(
  applicationId: string,
  secret: string,
  { acts }: { acts: boolean },
): Promise<string | null> {
  if (secret.startsWith(MEMBER_TOKEN)) return signInMember(applicationId, secret);
  const basic = btoa(String.fromCodePoint(...new TextEncoder().encode(`${applicationId}:${secret}`)));
  const { method, path } = PUBLIC.issueToken;
  const response = await fetch(ROOT + path, {
    method,
    credentials: 'omit', // otherwise the browser itself would ask for credentials after a 401
    headers: { Authorization: `Basic ${basic}` },
    body: new URLSearchParams({ grant_type: 'client_credentials', scope: (acts ? ACTING : LOOKING).join(' ') }),
  });
  if (!response.ok) return response.status === 401 ? 'The applicationId or the secret is wrong.' : words(response);
  const answer = (await response.json()) as { access_token: string; expires_in: number; scope?: string };
  const scopes = (answer.scope ?? '').split(' ').filter(Boolean);
  const own = { applicationId, accessToken: answer.access_token, scopes, person: null, member: null };
  keepToken(own, answer.expires_in);
  begin(own);
  return null;
}

/** The beginning of the tokens of people of developers, which take the place of access tokens. */
const MEMBER_TOKEN = 'lapeldev_';
/** Seconds for which this tab keeps the token of a person. */
const KEPT_SECONDS = 3600;

/** Signs a person of the developer in, with the rights of their role. Returns an error text, or null. */
async function signInMember(applicationId: string, accessToken: string): Promise<string | null> {
  const path = OWN_ACCESS.replace('{applicationId}', encodeURIComponent(applicationId));
  const response = await fetch(ROOT + path, {
    credentials: 'omit',
    headers: { Authorization: `Bearer ${accessToken}` },
  });
  if (response.status === 401) return 'The token is wrong, has expired, or was revoked.';
  if (!response.ok) return response.status === 403 ? 'The application is not one of your developer.' : words(response);
  const { scopes, member } = (await response.json()) as { scopes: string[]; member: SignedMember };
  const own = { applicationId, accessToken, scopes, person: null, member };
  keepToken(own, KEPT_SECONDS);
  begin(own);
  return null;
}

export async function signOut(): Promise<void> {
  const { method, path } = PUBLIC.closeSession;
  const response = ROLE === 'operator' ? await fetch(ROOT + path, { method, headers: OWN }) : null;
  const leading = response?.status === 200 ? ((await response.json()) as { url: string }) : null;
  forgetToken();
  batch(() => {
    endReason.value = null;
    owner.value = null;
    session.value = null;
  });
  // The person is signed in at the provider as well.
  if (leading) location.assign(leading.url);
}
