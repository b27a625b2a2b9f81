import type { Socket } from 'node:net';
import type { Metrics } from '../../metrics.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import { createLogLimit } from '../../runtime/log-limit.ts';
import type { Networks } from '../../runtime/networks.ts';
import { setClientAddress } from './client-address.ts';
import { LONGEST_HEADER, readProxyHeader } from './proxy-header.ts';

/** Milliseconds for a header. A proxy sends it at once; the specification asks for three seconds at least. */
const TIMEOUT_MS = 5_000;
/** The most connections that may wait for their header at a time. */
const MOST_WAITING = 4_096;

interface Parts {
  clock: Clock;
  log: Log;
  metrics: Pick<Metrics, 'proxyRefused'>;
  /** The addresses of the proxies (LAPEL_TRUST_PROXY). */
  trusted: Networks;
}

const next = (socket: Socket): Buffer | null => socket.read() as Buffer | null;

type Reason = 'untrusted' | 'header' | 'timeout' | 'waiting';

export type ProxyGate = ReturnType<typeof createProxyGate>;

/**
 * Reads the header of the PROXY protocol with which each connection of some listeners begins. Anybody could claim any
 * address with such a header, so a connection from another address than those of the proxies is closed at once, before
 * a byte of it is read. A connection without a whole header is closed as well.
 */
export function createProxyGate({ clock, log, metrics, trusted }: Parts) {
  const logLimit = createLogLimit({ clock });
  /** The connections that wait for their header, with their listeners. */
  const waiting = new Map<Socket, string>();

  function refuse(listener: string, socket: Socket, reason: Reason): void {
    metrics.proxyRefused.inc({ listener, reason });
    const address = socket.remoteAddress ?? '';
    const leftOut = logLimit(`${listener} ${reason} ${address}`);
    if (leftOut !== undefined) log.warn({ listener, address, reason, leftOut }, WORDS[reason]);
    socket.destroy();
  }

  return {
    /** Calls `enter` when the header has been read; `clientAddress` then knows the client. */
    take(listener: string, socket: Socket, enter: () => void): void {
      socket.on('error', () => undefined);
      const isKnown = trusted.has(socket.remoteAddress ?? '');
      if (!isKnown || waiting.size >= MOST_WAITING) {
        refuse(listener, socket, isKnown ? 'waiting' : 'untrusted');
        return;
      }
      let data: Buffer = Buffer.alloc(0);
      waiting.set(socket, listener);
      const cancel = clock.after(TIMEOUT_MS, () => refuse(listener, socket, 'timeout'));
      function end(): void {
        waiting.delete(socket);
        cancel();
        socket.off('readable', read).off('close', end);
      }
      function read(): void {
        for (let chunk = next(socket); chunk !== null; chunk = next(socket)) {
          data = data.length === 0 ? chunk : Buffer.concat([data, chunk]);
          const header = readProxyHeader(data);
          if (header === 'more' && data.length <= LONGEST_HEADER) continue;
          end();
          if (typeof header === 'string') refuse(listener, socket, 'header');
          else {
            // The specification: the address of a connection without a named client is that of the proxy itself.
            if (header.client !== null) setClientAddress(socket, header.client);
            if (data.length > header.bytes) socket.unshift(data.subarray(header.bytes));
            enter();
          }
          return;
        }
      }
      socket.on('readable', read).on('close', end);
    },

    /** Closes the connections of a listener that wait for their header, because the listener stops. */
    end(listener: string): void {
      for (const [socket, of] of waiting) if (of === listener) socket.destroy();
    },
  };
}

const WORDS: Readonly<Record<Reason, string>> = {
  untrusted: 'a connection was refused: this listener accepts only the proxies of LAPEL_TRUST_PROXY',
  header: 'a connection of a proxy was refused: it does not begin with a header of the PROXY protocol',
  timeout: 'a connection of a proxy was closed: the header of the PROXY protocol did not come in time',
  waiting: 'a connection of a proxy was refused: too many wait for their header of the PROXY protocol',
};
