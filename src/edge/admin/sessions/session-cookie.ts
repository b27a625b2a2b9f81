import { SESSION_LIFETIME } from './sessions.ts';

// A browser takes a name that begins so only with `Secure`, `Path=/` and no `Domain` (RFC 6265bis 4.1.3.2): no other host
// and no plain connection can set it.
const SECURE_NAME = '__Host-lapel';
/** Where the connection is plain, and not on loopback, browsers keep no cookie of that kind. */
const PLAIN_NAME = 'lapel';
const SECRET = /^[\w-]{43}$/;

/** The secret of the session in a `Cookie` header; undefined when there is none that can be one. */
export function sessionSecret(cookie: string | undefined): string | undefined {
  if (cookie === undefined) return undefined;
  const cookies = cookie.split(';').map((pair) => pair.trim().split('=', 2) as [string, string | undefined]);
  for (const wanted of [SECURE_NAME, PLAIN_NAME]) {
    const value = cookies.find(([name]) => name === wanted)?.[1];
    if (value !== undefined && SECRET.test(value)) return value;
  }
  return undefined;
}

const attributes = (name: string, value: string, seconds: number): string =>
  `${name}=${value}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Strict${name === SECURE_NAME ? '; Secure' : ''}`;

/** The `Set-Cookie` of a new session. */
export const cookieOf = (secret: string, { secure }: { secure: boolean }): string =>
  attributes(secure ? SECURE_NAME : PLAIN_NAME, secret, SESSION_LIFETIME / 1_000_000);

/** The `Set-Cookie` that takes it away. */
export const noCookie = ({ secure }: { secure: boolean }): string =>
  attributes(secure ? SECURE_NAME : PLAIN_NAME, '', 0);
