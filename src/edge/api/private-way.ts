import type { IncomingMessage } from 'node:http';
import { TLSSocket } from 'node:tls';
import { clientAddress, isProxied } from '../../platform/entrance/client-address.ts';
import type { Proxies } from '../../platform/entrance/forwarded.ts';
import { readNetworks } from '../../runtime/networks.ts';

const LOOPBACK = readNetworks('loopback')!;

/** Whether a proxy tells that its client came without TLS. It is a list if there are several proxies. */
const isWithoutTls = (text = ''): boolean =>
  text
    .toLowerCase()
    .slice(0, 64)
    .split(',')
    .some((scheme) => scheme.trim() === 'http');

/**
 * Whether a secret may come this way: over TLS; through a trusted proxy, which ends TLS before the service, unless it says
 * `X-Forwarded-Proto: http`; or from a program on this machine, whose bytes leave it nowhere.
 */
export function isPrivate({ socket, headers }: IncomingMessage, proxies: Proxies | undefined): boolean {
  if (socket instanceof TLSSocket) return true;
  const isTrusted = isProxied(socket) || (proxies?.trusted.has(clientAddress(socket)) ?? false);
  if (isTrusted) return !isWithoutTls(headers['x-forwarded-proto']?.toString());
  return LOOPBACK.has(clientAddress(socket));
}
