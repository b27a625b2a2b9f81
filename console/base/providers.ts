import { PUBLIC, SIGN_IN_ERRORS } from './operations.ts';
import { ROOT } from './place.ts';
import { wordsOf } from './words.ts';

/** A provider through which people sign in to administration. */
interface Provider {
  providerId: string;
  name: string;
}

export const PROVIDERS = JSON.parse(document.documentElement.dataset['providers'] ?? '[]') as readonly Provider[];

/** The name of the query parameter in which the service says why a sign-in has failed. */
const FAILED = 'signIn';

/** The reason why the sign-in has failed with which the browser came back; it is taken out of the address. */
function takeFailure(): string | null {
  const url = new URL(location.href);
  const code = url.searchParams.get(FAILED);
  if (code === null) return null;
  url.searchParams.delete(FAILED);
  history.replaceState(history.state, '', url);
  return Object.hasOwn(SIGN_IN_ERRORS, code) ? (SIGN_IN_ERRORS[code] ?? null) : 'The sign-in has failed. Try again.';
}
export const failure = takeFailure();

/**
 * Begins a sign-in through a provider. The browser goes there and comes back to this page; in a window of its own
 * (`apart`) this page stays as it is, and continues when the user comes back to it. Returns an error text, or null.
 */
export async function signInThrough(providerId: string, { apart }: { apart: boolean }): Promise<string | null> {
  const { method, path } = PUBLIC.beginSignIn;
  const page = (location.pathname + location.search).slice(`${ROOT}/console/`.length);
  const response = await fetch(ROOT + path, {
    method,
    headers: { 'X-Lapel-Console': '1', 'Content-Type': 'application/json' },
    body: JSON.stringify({ providerId, page: apart || page.length > 512 ? '' : page }),
  });
  const answer: unknown = await response.json().catch(() => null);
  if (!response.ok) return wordsOf(answer) ?? `The service answered ${response.status}.`;
  const { url } = answer as { url: string };
  if (apart) open(url, '_blank', 'noopener');
  else location.assign(url);
  return null;
}
