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

// Milliseconds. A request's head and body must come within these, else Node answers 408 and closes.
const REQUEST_TIMEOUT = 30_000;
const TIMEOUTS = {
  headersTimeout: 10_000,
  // Longer than the idle time of usual proxies (60 s), so that the proxy closes first and never into a request.
  keepAliveTimeout: 65_000,
  connectionsCheckingInterval: 5_000,
};
// Milliseconds in which a client takes something of its answer. What the kernel holds for a fast line it may take some
// seconds to empty over a slow one.
const STALL = 30_000;
// After so many milliseconds of draining, what is still in flight is cut off. The API, administration and the webhooks
// drain one after another, and all of it is to end within ten seconds.
const DRAIN = 3_000;
const CONNECTIONS = { perAddress: 512, total: 1024 };

export interface HttpServer extends AsyncDisposable {
  /** Port 0 picks a free one. */
  listen(host: string, port: number): Promise<{ port: number }>;
  /** Stops accepting, closes idle connections, lets what is in flight finish. */
  drain(): Promise<void>;
  /** Resolves when no request is in flight. */
  idle(): Promise<void>;
  /** What keeps it from taking a further connection, or undefined. */
  trouble(): string | undefined;
}

export interface SocketLimits {
  /** Connections at a time, of one address and in all. */
  connections?: { perAddress: number; total: number };
  /** Milliseconds for a whole request to come. */
  requestTimeout?: number;
}

interface Parts extends SocketLimits {
  handle(context: Koa.Context): Promise<void>;
  clock: Clock;
  log: Log;
  metrics: Pick<Metrics, 'httpRefused'>;
  /** Called once when draining begins. */
  onDrain(): void;
}

interface Sockets extends HttpServer, Pick<SocketBounds, 'works' | 'waits'> {
  isDraining(): boolean;
  /** The answer that a connection is about to get has no end: nobody waits for that. */
  lets(socket: Socket): void;
}

/** The sockets of one listener: bounds, timeouts, one request at a time on each, draining. */
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
  // Koa reports here what breaks after the handler: nearly always a client that went away.
  koa.on('error', (error: Error) => log.debug({ err: error }, 'answer could not be sent'));
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
    },
    onRefused: () => metrics.httpRefused.inc({ bound: 'pipelined_requests' }),
  });
  const server: Server = createServer(
    { ...TIMEOUTS, requestTimeout, noDelay: true, requireHostHeader: false }, // the listener asks for it, and says so
    take,
  );
  server.on('checkExpectation', take); // of expectations nobody knows nothing has to come (RFC 9110 10.1.1)
  server.on('connection', bounds.admit);
  // For what the HTTP parser refuses, Node's own answers (400, 408, 431) are right; a listener would replace them.

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
      return bounds.isFull() ? 'has all the connections that it may have' : undefined;
    },
    isDraining: () => draining,
    lets(socket) {
      if (socket.destroyed) return; // nobody gets it, and its request is over
      endless.add(socket);
      work.ended();
    },
    works: bounds.works,
    waits: bounds.waits,
    [Symbol.asyncDispose]: drain,
  };
}
