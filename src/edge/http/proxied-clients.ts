import type { IncomingMessage, ServerResponse } from 'node:http';
import { clientAddress } from '../../platform/entrance/client-address.ts';
import { type Proxies, readForwarded } from '../../platform/entrance/forwarded.ts';
import type { Clock } from '../../runtime/clock.ts';
import { createCounts } from '../../runtime/counts.ts';
import type { Log } from '../../runtime/log.ts';
import { createLogLimit } from '../../runtime/log-limit.ts';
import { addressGroup } from '../../runtime/socket-bounds.ts';

interface Parts {
  proxies: Proxies;
  /** The most requests of one client at a time: as many connections it could have without a proxy. */
  perClient: number;
  clock: Clock;
  log: Log;
}

/** The client of a request. */
interface Client {
  address: string;
  /** True when the client has more requests at a time than it may. */
  isFull: boolean;
}

/**
 * Finds the clients of requests that come through proxies. A connection of a proxy carries requests of many clients, so
 * the bound of connections of one address becomes a bound of requests of one client.
 */
export function createProxiedClients({ proxies, perClient, clock, log }: Parts) {
  const logLimit = createLogLimit({ clock });
  const counts = createCounts();

  /** The client of a request. Its headers then name the host that the client called, as far as a proxy tells it. */
  return (request: IncomingMessage, response: ServerResponse): Client => {
    const { headers } = request;
    const proxy = clientAddress(request.socket);
    if (!proxies.trusted.has(proxy)) {
      delete headers['x-forwarded-host'];
      return { address: proxy, isFull: false };
    }
    const { address, host, contradicts } = readForwarded(headers, proxy, proxies);
    if (host === undefined) delete headers['x-forwarded-host'];
    else headers['x-forwarded-host'] = host;
    const leftOut = contradicts ? logLimit(proxy) : undefined;
    if (leftOut !== undefined) log.warn({ address: proxy, leftOut }, CONTRADICTION);
    if (address === proxy) return { address, isFull: false };
    const group = addressGroup(address);
    const own = counts.add(group, 1);
    response.once('close', () => counts.add(group, -1));
    return { address, isFull: own > perClient };
  };
}

const CONTRADICTION =
  'Forwarded and X-Forwarded-For of a request name different clients, so it counts for the proxy itself: the proxy must remove the header that it does not write, or LAPEL_PROXY_HEADER must name the one that it writes';
