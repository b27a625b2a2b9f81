import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { TLSSocket } from 'node:tls';
import { clientAddress, isProxied } from '../../platform/entrance/client-address.ts';
import type { Proxies } from '../../platform/entrance/forwarded.ts';
import { readNetworks } from '../../runtime/networks.ts';

const LOOPBACK = readNetworks('loopback')!;

/** The headers in which proxies name the scheme of a request, apart from `Forwarded`. */
const SCHEME_HEADERS = ['x-forwarded-proto', 'x-forwarded-protocol', 'x-forwarded-scheme', 'x-url-scheme'];
/** The headers in which they say `on`. */
const ON_HEADERS = ['x-forwarded-ssl', 'front-end-https'];
const LONGEST = 1024;

const listOf = (value: string): string[] =>
  value
    .toLowerCase()
    .slice(0, LONGEST)
    .split(',')
    .map((each) => each.trim());

/**
 * Whether the proxies say that the client came over TLS. Each scheme that any header names must be https, because there
 * may be several proxies, and a client may have written some headers. `choice` names the headers that can say so; each
 * header can say the opposite.
 */
function saysTls(headers: IncomingHttpHeaders, choice: Proxies['choice'] | undefined): boolean {
  const valuesOf = (names: readonly string[]): string[] =>
    names.flatMap((name) => (headers[name] === undefined ? [] : listOf(headers[name].toString())));
  const usual = [
    ...valuesOf(SCHEME_HEADERS),
    ...valuesOf(ON_HEADERS).map((value) => (value === 'on' ? 'https' : value)),
  ];
  const standard = listOf(headers.forwarded ?? '').flatMap((element) => schemeIn(element) ?? []);
  const said = choice === 'forwarded' ? standard : choice === 'x-forwarded' ? usual : [...usual, ...standard];
  return said.length > 0 && [...usual, ...standard].every((scheme) => scheme === 'https');
}

/** The scheme in an element of `Forwarded` (RFC 7239 5.4); undefined when it names none. */
function schemeIn(element: string): string | undefined {
  const pair = element.split(';').find((each) => each.trim().startsWith('proto'));
  return pair
    ?.slice(pair.indexOf('=') + 1)
    .trim()
    .replaceAll('"', '');
}

/**
 * Whether a secret may come this way: over TLS; through a trusted proxy, which ends TLS before the service and says so; or
 * from a program on this machine, whose bytes leave it nowhere.
 */
export function isPrivate({ socket, headers }: IncomingMessage, proxies: Proxies | undefined): boolean {
  if (socket instanceof TLSSocket) return true;
  const isTrusted = isProxied(socket) || (proxies?.trusted.has(clientAddress(socket)) ?? false);
  if (isTrusted) return saysTls(headers, proxies?.choice);
  return LOOPBACK.has(clientAddress(socket));
}
