import { SESSION_LIFETIME } from './sessions.ts';

// Browsers accept a cookie with this prefix only with `Secure`, `Path=/` and no `Domain` (RFC 6265bis 4.1.3.2), so no
// other host and no plain connection can set it.
const SECURE_NAME = '__Host-lapel';
/** Used on plain connections beyond loopback, where browsers accept no `Secure` cookie. */
const PLAIN_NAME = 'lapel';
const SECRET = /^[\w-]{43}$/;

/** The secret of the session in a `Cookie` header; undefined when there is no well-formed one. */
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

/** The `Set-Cookie` that removes the cookie. */
export const noCookie = ({ secure }: { secure: boolean }): string =>
  attributes(secure ? SECURE_NAME : PLAIN_NAME, '', 0);
