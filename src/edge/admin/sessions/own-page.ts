import type { IncomingHttpHeaders } from 'node:http';
import { DomainError } from '../../../errors.ts';

/** What only a script can send, and of another origin only with leave. */
export const PAGE_HEADER = 'x-lapel-console';
const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

const forged = (): DomainError => new DomainError('CONSOLE_REQUEST_FORGED');

/** Whether browsers hold an origin for safe from whoever is on the way: they keep `Secure` cookies of it, and say where a request is from. */
const isTrustworthy = (origin: URL): boolean =>
  origin.protocol === 'https:' || LOOPBACK.test(origin.hostname) || origin.hostname.endsWith('.localhost');

/**
 * Refuses what a browser sends with a session without the console having asked for it: a cookie goes along with the
 * requests of every page of the same host, whatever its port. Throws CONSOLE_REQUEST_FORGED.
 */
export function checkOwnRead(headers: IncomingHttpHeaders): void {
  const site = headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin') throw forged();
}

/**
 * The same for what changes something: it must be a script's, of a page of this host and port (a proxy passes `Host` on, or
 * says `X-Forwarded-Host`: pages of others can set neither), and its browser must say that it is of the same origin, where
 * it says such things. Answers whether the connection is one that keeps `Secure` cookies. Throws CONSOLE_REQUEST_FORGED.
 */
export function checkOwnChange(headers: IncomingHttpHeaders): { secure: boolean } {
  checkOwnRead(headers);
  const origin = URL.parse(headers.origin ?? '');
  if (headers[PAGE_HEADER] !== '1' || !origin) throw forged();
  const hosts = [headers.host, headers['x-forwarded-host']];
  if (!hosts.includes(origin.host)) throw forged();
  const secure = isTrustworthy(origin);
  if (secure && headers['sec-fetch-site'] === undefined) throw forged();
  return { secure };
}
