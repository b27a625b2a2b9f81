import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A receiver of webhooks. */
export interface Sink {
  url: string;
  /** Resolves when the next webhook for an application arrives. */
  next(applicationId: string): Promise<void>;
  /** The number of webhooks that this receiver has answered. */
  answered(): number;
  /** Resolves when this receiver has answered so many webhooks. */
  until(count: number): Promise<void>;
  /** Sets after how many milliseconds later webhooks are answered: 0 at once, Infinity never. */
  answers(after: number): void;
  close(): void;
}

export async function createSink(): Promise<Sink> {
  const waiting = new Map<string, (() => void)[]>();
  let delay = 0;
  let count = 0;
  let awaited = { count: Number.POSITIVE_INFINITY, resolve: (): void => undefined };
  const end = (response: ServerResponse): void => {
    count += 1;
    response.writeHead(200, { 'content-length': 0 }).end();
    if (count >= awaited.count) awaited.resolve();
  };
  const server: Server = createServer((request, response) => {
    request.resume().on('end', () => {
      if (delay === 0) end(response);
      else if (delay !== Number.POSITIVE_INFINITY) setTimeout(end, delay, response);
      waiting.get(request.url?.slice(1) ?? '')?.shift()?.();
    });
  });
  server.keepAliveTimeout = 60_000;
  await new Promise<void>((resolve) => server.listen({ host: '127.0.0.1', port: 0, backlog: 4096 }, resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    next: (applicationId) =>
      new Promise((resolve) => {
        const own = waiting.get(applicationId) ?? [];
        waiting.set(applicationId, own);
        own.push(resolve);
      }),
    answered: () => count,
    until(wanted) {
      const { promise, resolve } = Promise.withResolvers<void>();
      awaited = { count: wanted, resolve };
      if (count >= wanted) resolve();
      return promise;
    },
    answers: (after) => {
      delay = after;
    },
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
