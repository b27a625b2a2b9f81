import { createServer, type Server } from 'node:http';
import type { Socket } from 'node:net';
import Koa from 'koa';
import type { Metrics } from '../../metrics.ts';
import type { Clock } from '../../runtime/clock.ts';
import { createWork } from '../../runtime/idle.ts';
import { listenOn } from '../../runtime/listening.ts';
import type { Log } from '../../runtime/log.ts';
import { createSocketBounds, type SocketBounds } from '../../runtime/socket-bounds.ts';
import { oneAtATime } from './one-at-a-time.ts';

// Milliseconds. The head and body of a request must arrive within these times, else Node answers 408 and closes the
// connection.
const REQUEST_TIMEOUT = 30_000;
const TIMEOUTS = {
  headersTimeout: 10_000,
  // Longer than the idle time of usual proxies (60 s), so that the proxy closes first and never while a request is on
  // its way.
  keepAliveTimeout: 65_000,
  connectionsCheckingInterval: 5_000,
};
// Milliseconds within which a client must take some of its answer. The kernel may buffer an answer for a fast line that
// takes several seconds over a slow one.
const STALL = 30_000;
// Milliseconds of draining after which the remaining requests are cut off. The API, administration and the webhooks
// drain one after another, and all of it must end within ten seconds.
const DRAIN = 3_000;
const CONNECTIONS = { perAddress: 512, total: 1024 };

export interface HttpServer extends AsyncDisposable {
  /** Listens and returns the actual port; port 0 picks a free one. */
  listen(host: string, port: number): Promise<{ port: number }>;
  /** Stops accepting connections, closes idle ones, and lets requests in flight finish. */
  drain(): Promise<void>;
  /** Resolves when no request is in flight. */
  idle(): Promise<void>;
  /** The reason why the listener cannot take another connection, or undefined. */
  trouble(): string | undefined;
}

export interface SocketLimits {
  /** The most simultaneous connections of one address, and of all. */
  connections?: { perAddress: number; total: number };
  /** Milliseconds within which a whole request must arrive. */
  requestTimeout?: number;
}

interface Parts extends SocketLimits {
  handle(context: Koa.Context): Promise<void>;
  clock: Clock;
  log: Log;
  metrics: Pick<Metrics, 'httpRefused'>;
  /** Called once when the listener begins to drain. */
  onDrain(): void;
}

interface Sockets extends HttpServer, Pick<SocketBounds, 'works' | 'waits'> {
  isDraining(): boolean;
  /** The answer on this connection has no end, so shutdown does not wait for it. */
  markEndless(socket: Socket): void;
}

/** Manages the sockets of one listener: bounds, timeouts, one request at a time on each connection, draining. */
export function createSockets({
  handle,
  clock,
  log,
  metrics,
  onDrain,
  connections = CONNECTIONS,
  requestTimeout = REQUEST_TIMEOUT,
}: Parts): Sockets {
  const work = createWork();
  const endless = new WeakSet<Socket>();
  let draining = false;

  const koa = new Koa();
  // Koa reports errors after the handler here: nearly always a client has disconnected.
  koa.on('error', (error: Error) => log.debug({ err: error }, 'an answer could not be sent'));
  koa.use(handle);
  const respond = koa.callback();

  const bounds = createSocketBounds({
    clock,
    limits: { ...connections, stallMs: STALL },
    onBound: (bound) => metrics.httpRefused.inc({ bound }),
  });
  const take = oneAtATime({
    serve(request, response) {
      work.begun();
      bounds.works(request.socket);
      void respond(request, response);
    },
    onDone(socket) {
      if (!endless.delete(socket)) work.ended();
      bounds.waits(socket);
      // The head of this answer may have been sent before the drain, and so kept the connection for a next request.
      if (draining) server.closeIdleConnections();
    },
    onRefused: () => metrics.httpRefused.inc({ bound: 'pipelined_requests' }),
  });
  const server: Server = createServer(
    { ...TIMEOUTS, requestTimeout, noDelay: true, requireHostHeader: false }, // the listener checks Host itself, with a better error
    take,
  );
  server.on('checkExpectation', take); // an unknown expectation may be ignored (RFC 9110 10.1.1)
  server.on('connection', bounds.admit);
  // Node's own answers (400, 408, 431) are right for input that the HTTP parser refuses; a listener would replace them.

  async function drain(): Promise<void> {
    draining = true;
    onDrain();
    if (!server.listening) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const cancel = clock.after(DRAIN, () => server.closeAllConnections());
    server.close(() => resolve());
    await promise;
    cancel();
  }

  return {
    listen: async (host, port) => ({ port: await listenOn(server, host, port) }),
    drain,
    idle: work.idle,
    trouble() {
      if (!server.listening || draining) return 'does not accept connections';
      return bounds.isFull() ? 'has reached its limit of connections' : undefined;
    },
    isDraining: () => draining,
    markEndless(socket) {
      if (socket.destroyed) return; // the client has gone, and its request has already ended
      endless.add(socket);
      work.ended();
    },
    works: bounds.works,
    waits: bounds.waits,
    [Symbol.asyncDispose]: drain,
  };
}
