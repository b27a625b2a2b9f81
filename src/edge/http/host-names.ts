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
 * Refuses requests that call the service by a name that is not its own: a page of a stranger, whose name leads here since a
 * moment ago (DNS rebinding), is of the same origin as what it asks for. Whoever calls it by an address does not come by a
 * name, and this machine's own name leads to it alone. Throws HOST_UNKNOWN.
 */
export function createHostCheck(names: readonly string[]): (header: string | undefined) => void {
  const known = new Set(['localhost', ...names.map((name) => name.toLowerCase())]);
  return (header) => {
    if (header === undefined) return; // no browser: HTTP/1.0
    const host = hostOf(header);
    if (known.has(host) || isAddress(host) || host.endsWith('.localhost')) return;
    throw new DomainError('HOST_UNKNOWN');
  };
}
