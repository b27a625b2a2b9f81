import { isIP } from 'node:net';
import { DomainError } from '../../errors.ts';

/** The host of a `Host` header, without its port (RFC 9110 7.2). */
function hostOf(header: string): string {
  const end = header.startsWith('[') ? header.indexOf(']') + 1 : header.indexOf(':');
  const host = (end > 0 ? header.slice(0, end) : header).toLowerCase();
  return host.endsWith('.') ? host.slice(0, -1) : host;
}

const isAddress = (host: string): boolean =>
  isIP(host) !== 0 || (host.startsWith('[') && isIP(host.slice(1, -1)) === 6);

/**
 * Refuses requests that call the service by a foreign host name. A page of an attacker, whose name was just changed to
 * lead to this address (DNS rebinding), has the same origin as the requests that it sends here. A request by an address
 * carries no such name, and `localhost` leads to this machine alone, so both are accepted. Throws HOST_UNKNOWN.
 */
export function createHostCheck(names: readonly string[]): (header: string | undefined) => void {
  const known = new Set(['localhost', ...names.map((name) => name.toLowerCase())]);
  return (header) => {
    if (header === undefined) return; // HTTP/1.0, which no browser speaks
    const host = hostOf(header);
    if (known.has(host) || isAddress(host) || host.endsWith('.localhost')) return;
    throw new DomainError('HOST_UNKNOWN');
  };
}
