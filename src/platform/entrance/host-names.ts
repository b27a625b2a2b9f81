import { isIP } from 'node:net';
import { DomainError } from '@lapel/schemas/contracts/errors';

/** The host names that requests to a listener may have in `Host`. */
export interface HostNames {
  names: readonly string[];
  /** The setting that adds names. */
  setting: string;
}

/** The host of a `Host` header, without its port (RFC 9110 7.2). */
function hostOf(header: string): string {
  const end = header.startsWith('[') ? header.indexOf(']') + 1 : header.indexOf(':');
  const host = (end > 0 ? header.slice(0, end) : header).toLowerCase();
  return host.endsWith('.') ? host.slice(0, -1) : host;
}

const isAddress = (host: string): boolean =>
  isIP(host) !== 0 || (host.startsWith('[') && isIP(host.slice(1, -1)) === 6);

/**
 * Refuses requests that name a foreign host in `Host`. They come from pages of an attacker who made his own host name
 * lead to this address (DNS rebinding), so that the browser treats this service as part of his site. A request to an IP
 * address cannot come from such a page, and `localhost` is always this machine, so these are accepted. Throws
 * HOST_UNKNOWN.
 */
export function createHostCheck({ names, setting }: HostNames): (header: string | undefined) => void {
  const known = new Set(['localhost', ...names.map((name) => name.toLowerCase())]);
  return (header) => {
    if (header === undefined) return; // only HTTP/1.0 may omit it, which no browser speaks
    const host = hostOf(header);
    if (known.has(host) || isAddress(host) || host.endsWith('.localhost')) return;
    throw new DomainError('HOST_UNKNOWN', { values: { setting } });
  };
}
