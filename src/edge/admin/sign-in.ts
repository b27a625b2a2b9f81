import type { DomainError } from '@lapel/schemas/contracts/errors';
import type { SchemaTypes } from '@lapel/schemas/contracts/types';
import { NO_STORE } from '../http/no-store.ts';
import type { Answer } from '../http/route.ts';
import type { AdminServices, At, By } from './services.ts';
import { checkOwnChange } from './sessions/own-page.ts';
import { cookieOf } from './sessions/session-cookie.ts';
import { recordSession } from './sessions.ts';
import { attemptCookie, noAttempt } from './sign-in/attempt.ts';

/** Begins a sign-in through a provider: answers the URL to which the browser goes. */
export async function beginSignIn(
  { signIns }: Pick<AdminServices, 'signIns'>,
  { body, headers }: At<never, 'admin/sign-in'>,
): Promise<Answer> {
  const { origin, secure } = checkOwnChange(headers);
  const { attempt, url } = await signIns.begin({ providerId: body.providerId, page: body.page ?? '', origin });
  const answer: SchemaTypes['admin/leading-url'] = { url };
  return { status: 200, headers: { ...NO_STORE, 'Set-Cookie': attemptCookie(attempt, { secure }) }, body: answer };
}

/**
 * Ends a sign-in: the provider has led the browser here. The session is recorded in the audit log before its secret is
 * sent, and the browser goes on to the page of the console where the sign-in was begun.
 */
export async function finishSignIn(
  { signIns, sessions, audit }: Pick<AdminServices, 'signIns' | 'sessions' | 'audit'>,
  input: By<'providerId'>,
): Promise<Answer> {
  const { params, target, headers, address, requestId } = input;
  const { providerId } = params;
  const search = `?${target.query}`;
  const done = await signIns.finish({ providerId, search, cookie: headers.cookie, address, requestId });
  const { session, secret } = await sessions.openFor(done.person, { provider: providerId, address });
  await recordSession(audit, { method: 'GET', session, status: 303 }, input);
  const cookies = [cookieOf(secret, done), ...noAttempt()];
  return { status: 303, headers: { ...NO_STORE, Location: `../${done.page}`, 'Set-Cookie': cookies } };
}

/** Whether the console says why a sign-in has failed. Other errors are answered as everywhere. */
const isTold = (code: string): boolean =>
  code.startsWith('SIGN_IN_') || code === 'TOO_MANY_PEOPLE' || code === 'RATE_LIMITED';

/** Leads a browser whose sign-in has failed to the console, which says why. */
export const toConsole = ({ code }: DomainError): Answer | undefined =>
  isTold(code)
    ? {
        status: 303,
        headers: { ...NO_STORE, Location: `../?signIn=${code}`, 'Set-Cookie': noAttempt() },
      }
    : undefined;
