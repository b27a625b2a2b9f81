import type { IncomingHttpHeaders } from 'node:http';
import { DomainError } from '@lapel/schemas/contracts/errors';

/** A header that only scripts can send, and scripts of another origin only with permission (CORS). */
export const PAGE_HEADER = 'x-lapel-console';
const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

const forged = (): DomainError => new DomainError('CONSOLE_REQUEST_FORGED');

/**
 * Whether browsers treat an origin as safe from interception. For such an origin they keep `Secure` cookies and send
 * `Sec-Fetch-Site`.
 */
const isTrustworthy = (origin: URL): boolean =>
  origin.protocol === 'https:' || LOOPBACK.test(origin.hostname) || origin.hostname.endsWith('.localhost');

/**
 * Refuses a request with a session that the console did not send itself: browsers add the cookie to requests of every
 * page of the same host, whatever its port. Throws CONSOLE_REQUEST_FORGED.
 */
export function checkOwnRead(headers: IncomingHttpHeaders): void {
  const site = headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin') throw forged();
}

/**
 * Refuses a change that the console did not send itself. The request must come from a script of a page of this host and
 * port; behind a proxy, `Host` or `X-Forwarded-Host` must name the host that the browser called. Pages of other sites
 * can set neither header. Browsers that send `Sec-Fetch-Site` must also say that the page is of the same origin.
 * Returns the origin of the page, and whether browsers keep `Secure` cookies for it. Throws CONSOLE_REQUEST_FORGED.
 */
export function checkOwnChange(headers: IncomingHttpHeaders): { secure: boolean; origin: string } {
  checkOwnRead(headers);
  const origin = URL.parse(headers.origin ?? '');
  if (headers[PAGE_HEADER] !== '1' || !origin) throw forged();
  const hosts = [headers.host, headers['x-forwarded-host']];
  if (!hosts.includes(origin.host)) throw forged();
  const secure = isTrustworthy(origin);
  if (secure && headers['sec-fetch-site'] === undefined) throw forged();
  return { secure, origin: origin.origin };
}
