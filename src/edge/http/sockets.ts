import type { Socket } from 'node:net';
import Koa from 'koa';
import type { Metrics } from '../../metrics.ts';
import { clientAddress } from '../../platform/entrance/client-address.ts';
import { createWebServer, type Entrance } from '../../platform/entrance/web-server.ts';
import type { Clock } from '../../runtime/clock.ts';
import { drainServer } from '../../runtime/drain-server.ts';
import { createWork } from '../../runtime/idle.ts';
import { listenOn } from '../../runtime/listening.ts';
import type { Log } from '../../runtime/log.ts';
import { createSocketBounds, type SocketBounds } from '../../runtime/socket-bounds.ts';
import { endClient, TIMED_OUT } from './client-errors.ts';
import { oneAtATime } from './one-at-a-time.ts';

// Milliseconds. The head and body of a request must arrive within these times, else it is answered 408 and its connection
// closed.
const REQUEST_TIMEOUT = 30_000;
const HEADERS_TIMEOUT = 10_000;
const TIMEOUTS = {
  // Longer than the idle time of usual proxies (60 s), so that the proxy closes first and never while a request is on
  // its way.
  keepAliveTimeout: 65_000,
};
// How often Node looks for requests that are late.
const LOOK = 5_000;
// Milliseconds within which a client must take some of its answer. A slow client needs several seconds to read the data
// that the kernel has buffered for it, so a shorter time would close its connection by mistake.
const STALL = 30_000;
// Milliseconds that requests in work have at shutdown, before they are cut off. The API, administration and webhooks
// are shut down one after another, and all three must end within ten seconds.
const DRAIN = 3_000;
const CONNECTIONS = { perAddress: 512, total: 1024 };
// Milliseconds in which clients are told that their connections will close.
const LEAVE = 500;

export interface HttpServer extends AsyncDisposable {
  /** Begins to listen and returns the port, which is a free one when 0 is asked for. */
  listen(host: string, port: number): Promise<{ port: number }>;
  /**
   * Answers on, and tells with each answer that its connection closes. A request that is on its way while the service
   * closes its connection gets no answer, and the client cannot know whether it was carried out. So connections in use are
   * closed after an answer, before those that are idle are closed. Resolves after half a second; at once without connections.
   */
  leave(): Promise<void>;
  /** Stops accepting connections, closes idle ones, and lets requests in work finish. */
  drain(): Promise<void>;
  /** Resolves when no request is in work. */
  idle(): Promise<void>;
  /** The reason why the listener cannot take another connection, or undefined. */
  trouble(): string | undefined;
}

export interface SocketLimits {
  /** The most simultaneous connections from one address, and from all addresses. */
  connections?: { perAddress: number; total: number };
  /** Milliseconds within which a whole request must arrive. */
  requestTimeout?: number;
  /** Milliseconds within which the head of a request must arrive. */
  headersTimeout?: number;
  /** TLS and the PROXY protocol; undefined for plain HTTP. */
  entrance?: Entrance | undefined;
}

interface Parts extends SocketLimits {
  handle(context: Koa.Context): Promise<void>;
  clock: Clock;
  log: Log;
  metrics: Pick<Metrics, 'httpRefused'>;
  /** Called when `drain` is called. */
  onDrain(): void;
  /** True for the address of a proxy, whose connections carry the requests of many clients. */
  isShared?: ((address: string) => boolean) | undefined;
}

interface Sockets extends HttpServer, Pick<SocketBounds, 'works' | 'waits'> {
  /** True when each answer must be the last one of its connection. */
  isLeaving(): boolean;
  /** Tells that the answer on this connection has no end, so that shutdown does not wait for it. */
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
  headersTimeout = HEADERS_TIMEOUT,
  entrance,
  isShared,
}: Parts): Sockets {
  const work = createWork();
  const endless = new WeakSet<Socket>();
  let leaving = false;
  let draining = false;

  const koa = new Koa(); // makes the contexts; `send.ts` writes the answers

  const bounds = createSocketBounds({
    clock,
    limits: { ...connections, stallMs: STALL },
    addressOf: clientAddress,
    ...(isShared && { isShared }),
    onBound: (bound) => metrics.httpRefused.inc({ bound }),
  });
  const { take, isOurs, isAnswering } = oneAtATime({
    clock,
    timeouts: { head: headersTimeout, whole: requestTimeout },
    addressOf: clientAddress,
    serve(request, response) {
      work.begun();
      bounds.works(request.socket);
      handle(koa.createContext(request, response)).catch((err: unknown) => {
        log.error({ err }, 'a request could not be answered');
        response.destroy();
      });
    },
    onDone(socket) {
      if (!endless.delete(socket)) work.ended();
      bounds.waits(socket);
      // This answer may have begun before the shutdown, without `Connection: close`, so its idle connection is closed
      // here.
      if (draining) server.closeIdleConnections();
    },
    onRefused: () => metrics.httpRefused.inc({ bound: 'pipelined_requests' }),
    onSlow: (socket) => endClient(socket, TIMED_OUT, isAnswering(socket)),
  });
  const server = createWebServer({
    entrance,
    options: {
      ...TIMEOUTS,
      headersTimeout,
      requestTimeout,
      connectionsCheckingInterval: Math.min(LOOK, headersTimeout),
      noDelay: true,
      requireHostHeader: false, // the listener checks Host itself, with a better error
    },
    take,
    admit: bounds.admit,
    secures: bounds.secures,
  });
  server.on('checkExpectation', take); // an unknown `Expect` header may be ignored (RFC 9110 10.1.1)
  server.on('clientError', ({ code }: NodeJS.ErrnoException, socket: Socket) => {
    if (code === TIMED_OUT && isOurs(socket)) return;
    endClient(socket, code, isAnswering(socket));
  });

  async function drain(): Promise<void> {
    leaving = true;
    draining = true;
    onDrain();
    const stopped = (): void => entrance?.gate?.end(entrance.listener);
    await drainServer(server, { clock, limitMs: DRAIN, bounds, stopped });
  }

  return {
    listen: async (host, port) => ({ port: await listenOn(server, host, port) }),
    async leave() {
      leaving = true;
      if (bounds.open() > 0) await new Promise<void>((resolve) => void clock.after(LEAVE, resolve));
    },
    drain,
    idle: work.idle,
    trouble() {
      if (!server.listening || leaving) return 'does not accept connections';
      return bounds.isFull() ? 'has reached its limit of connections' : undefined;
    },
    isLeaving: () => leaving,
    markEndless(socket) {
      if (socket.destroyed) return; // the client has disconnected, so the request was counted as ended already
      endless.add(socket);
      work.ended();
    },
    works: bounds.works,
    waits: bounds.waits,
    [Symbol.asyncDispose]: drain,
  };
}
