import type { IncomingHttpHeaders } from 'node:http';
import { type Networks, plainAddress } from '../../runtime/networks.ts';

/** The proxies in front of the service. */
export interface Proxies {
  /** Their addresses. */
  trusted: Networks;
  /** LAPEL_PROXY_HEADER: the headers that they write. */
  choice: 'any' | 'forwarded' | 'x-forwarded';
}

/** The client of a request, and the host that it called, as the proxies tell. */
export interface Forwarded {
  /** The address of the client. It is that of the nearest proxy when the headers name nobody, or contradict. */
  address: string;
  /** Undefined when no header names it. */
  host: string | undefined;
  /** True when `Forwarded` and `X-Forwarded-For` name different clients. */
  contradicts: boolean;
}

/** The most proxies that are followed from the service towards the client. */
const MOST_HOPS = 32;
/** The most characters of one element of a header. */
const LONGEST_ELEMENT = 512;
const HOST = /^(?:[\w.-]{1,253}|\[[\da-f:.]{2,45}\])(?::\d{1,5})?$/i;
// One `name=value` of `Forwarded` (RFC 7239 4). Values that are not quoted are read with colons, which some proxies
// write. Nobody needs an escape in a quoted value, so one that has it is wrong.
const PAIR = /^([a-z]+)=(?:"([^"\\]*)"|([^\s",;\\]*))$/i;

/** The elements of a header, from the right: the nearest proxy has written the last one. */
function* fromRight(text: string): Generator<string> {
  for (let end = text.length; end >= 0; ) {
    const comma = end > 0 ? text.lastIndexOf(',', end - 1) : -1;
    yield end - comma > LONGEST_ELEMENT ? '' : text.slice(comma + 1, end).trim();
    end = comma;
  }
}

/** The address in `192.0.2.1`, `192.0.2.1:4711`, `2001:db8::1`, `[2001:db8::1]` or `[2001:db8::1]:4711`. */
function addressIn(node: string): string | undefined {
  const bracketed = /^\[([^\]]*)\](?::\d{1,5})?$/.exec(node);
  if (bracketed) return bracketed[1]!.includes(':') ? plainAddress(bracketed[1]!) : undefined;
  const withPort = /^([\d.]+):\d{1,5}$/.exec(node);
  return plainAddress(withPort ? withPort[1]! : node);
}

/**
 * The value of a parameter in an element of `Forwarded`. Undefined when there is none, or when any part of the element
 * is malformed: a client could have begun a quoted value that swallows what a proxy has added.
 */
function parameterOf(element: string, wanted: string): string | undefined {
  let found: string | undefined;
  for (const pair of element.split(';')) {
    const [, name, quoted, bare] = PAIR.exec(pair.trim()) ?? [];
    if (name === undefined) return undefined;
    if (name.toLowerCase() !== wanted) continue;
    if (found !== undefined) return undefined;
    found = quoted ?? bare;
  }
  return found;
}

const nodeOf = (element: string): string => parameterOf(element, 'for') ?? '';

/**
 * Reads the headers of a request that a proxy at `proxy` has sent. The client is the last address that is not one of a
 * proxy: everything before it was written by the client, which can write anything. Takes time for the last elements
 * only, however long the headers are.
 */
export function readForwarded(headers: IncomingHttpHeaders, proxy: string, { trusted, choice }: Proxies): Forwarded {
  function clientIn(text: string, nodeIn: (element: string) => string): string {
    let known = proxy;
    let hops = 0;
    for (const element of fromRight(text)) {
      const address = addressIn(nodeIn(element));
      hops += 1;
      if (address === undefined || hops > MOST_HOPS) break;
      known = address;
      if (!trusted.has(address)) break;
    }
    return known;
  }

  const standard = choice === 'x-forwarded' ? undefined : headers.forwarded;
  const [usual, usualHost] = ['x-forwarded-for', 'x-forwarded-host'].map((name) =>
    choice === 'forwarded' ? undefined : headers[name]?.toString(),
  );
  const [nearest = ''] = standard === undefined ? [] : fromRight(standard);
  const [host = parameterOf(nearest, 'host') ?? ''] = usualHost === undefined ? [] : fromRight(usualHost);
  const clients = [
    ...(standard === undefined ? [] : [clientIn(standard, nodeOf)]),
    ...(usual === undefined ? [] : [clientIn(usual, (element) => element)]),
  ];
  const [address = proxy, other = address] = clients;
  const contradicts = address !== other;
  return { address: contradicts ? proxy : address, host: HOST.test(host) ? host : undefined, contradicts };
}
