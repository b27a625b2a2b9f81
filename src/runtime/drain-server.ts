import type { Server } from 'node:http';
import type { Clock } from './clock.ts';
import type { SocketBounds } from './socket-bounds.ts';

interface Limits {
  clock: Pick<Clock, 'after'>;
  /** Milliseconds that requests in work have, before their connections are closed. */
  limitMs: number;
  /** The connections of the server; without them, one that never sends anything is open until the limit. */
  bounds?: Pick<SocketBounds, 'endSilent' | 'endAll'>;
  /** Called when no connection is accepted any more: ends those that have not reached the server. */
  stopped?(): void;
}

/** Waits for a whole turn of the event loop, which reads what has arrived on all connections. */
const wholeTurn = (): Promise<void> => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));

/**
 * Stops accepting connections, closes those without a request, and waits for the requests in work. Resolves when no
 * connection is open. A request that has arrived and was not read yet makes its connection one with a request, so what has
 * arrived is read first. Node closes idle connections only after their first request, so those that have sent nothing (a
 * browser opens some in advance) are closed here.
 */
export async function drainServer(server: Server, { clock, limitMs, bounds, stopped }: Limits): Promise<void> {
  if (!server.listening) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const cancel = clock.after(limitMs, () => {
    server.closeAllConnections();
    bounds?.endAll(); // the server does not know the connections whose TLS handshake has not ended
  });
  await wholeTurn();
  server.close(() => resolve());
  stopped?.();
  await wholeTurn();
  bounds?.endSilent();
  await promise;
  cancel();
}
