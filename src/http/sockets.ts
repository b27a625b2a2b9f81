import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import Koa from 'koa';
import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';

// Milliseconds. A request's head and body must come within these, else Node answers 408 and closes.
const REQUEST_TIMEOUT = 30_000;
const TIMEOUTS = {
  headersTimeout: 10_000,
  // Longer than the idle time of usual proxies (60 s), so that the proxy closes first and never into a request.
  keepAliveTimeout: 65_000,
  connectionsCheckingInterval: 5_000,
};
// After so many milliseconds of draining, what is still in flight is cut off. The API, administration and the webhooks
// drain one after another, and all of it is to end within ten seconds.
const DRAIN = 3_000;

export interface HttpServer extends AsyncDisposable {
  /** Port 0 picks a free one. */
  listen(host: string, port: number): Promise<{ port: number }>;
  /** Stops accepting, closes idle connections, lets what is in flight finish. */
  drain(): Promise<void>;
  /** Resolves when no request is in flight. */
  idle(): Promise<void>;
}

interface Parts {
  handle(context: Koa.Context): Promise<void>;
  clock: Clock;
  log: Log;
  /** Milliseconds for a whole request to come. */
  requestTimeout?: number;
}

/** The sockets of one listener: timeouts, in-flight count, draining. */
export function createSockets({
  handle,
  clock,
  log,
  requestTimeout = REQUEST_TIMEOUT,
}: Parts): HttpServer & { inFlight(): number } {
  let inFlight = 0;
  let draining = false;
  let waiting: (() => void)[] = [];

  const koa = new Koa();
  // Koa reports here what breaks after the handler: nearly always a client that went away.
  koa.on('error', (error: Error) => log.debug({ err: error }, 'answer could not be sent'));
  koa.use(async (context) => {
    await handle(context);
    // Node closes idle connections by itself; this closes the ones that were in use, after their answer.
    if (draining) context.set('Connection', 'close');
  });
  const respond = koa.callback();

  const released = (): void => {
    inFlight -= 1;
    if (inFlight > 0) return;
    const waiters = waiting;
    waiting = [];
    for (const resolve of waiters) resolve();
  };
  const server: Server = createServer({ ...TIMEOUTS, requestTimeout, noDelay: true }, (request, response) => {
    inFlight += 1;
    response.once('close', released);
    void respond(request, response);
  });
  // For what the HTTP parser refuses, Node's own answers (400, 408, 431) are right; a listener would replace them.

  async function drain(): Promise<void> {
    draining = true;
    if (!server.listening) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const cancel = clock.after(DRAIN, () => server.closeAllConnections());
    server.close(() => resolve());
    await promise;
    cancel();
  }

  return {
    async listen(host, port) {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      server.once('error', reject);
      server.listen({ host, port, backlog: 1024 }, resolve);
      await promise;
      server.off('error', reject);
      return { port: (server.address() as AddressInfo).port };
    },
    drain,
    idle: () => (inFlight === 0 ? Promise.resolve() : new Promise((resolve) => waiting.push(resolve))),
    inFlight: () => inFlight,
    [Symbol.asyncDispose]: drain,
  };
}
