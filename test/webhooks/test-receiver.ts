import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Test } from 'tap';

export interface Received {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  /** The raw bytes, which were signed. */
  body: Buffer;
  /** Whether the whole answer was sent. */
  answered(): boolean;
}

export interface TestAnswer {
  status?: number;
  headers?: Record<string, string>;
  body?: string | Buffer;
  /** Never answers; the connection stays open until the other side closes it. */
  hang?: boolean;
  /** Begins an answer that never ends. */
  stall?: boolean;
}

export type TestReceiver = Awaited<ReturnType<typeof createTestReceiver>>;

/**
 * A real HTTP server on 127.0.0.1 that records its requests. `answer` sets the answer from then on (200 at first): a
 * fixed one, or a function of the request. `next` waits for a request that was not taken before.
 */
export async function createTestReceiver(t: Test) {
  const requests: Received[] = [];
  const waiting: ((request: Received) => void)[] = [];
  let taken = 0;
  let open = 0;
  let choose = (_request: Received): TestAnswer => ({});

  const reply = (
    response: ServerResponse,
    { status = 200, headers = {}, body = '', hang, stall }: TestAnswer,
  ): void => {
    if (hang) return;
    response.writeHead(status, headers);
    if (stall) response.write(body);
    else response.end(body);
  };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    open += 1;
    response.on('close', () => {
      open -= 1;
    });
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url: path = '', headers } = request;
      const answered = (): boolean => response.writableFinished;
      const received = { method, path, headers, body: Buffer.concat(chunks), answered };
      requests.push(received);
      reply(response, choose(received));
      const waiter = waiting.shift();
      if (waiter) {
        taken += 1;
        waiter(received);
      }
    });
  });
  server.keepAliveTimeout = 0; // on a busy machine it would close connections while the next request is on its way
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  t.teardown(close);
  const { port } = server.address() as AddressInfo;

  return {
    port,
    url: `http://127.0.0.1:${port}/hook`,
    /** All requests, in order. */
    requests,
    /** The number of requests that are neither answered nor given up by the sender. */
    open: () => open,
    answer(next: TestAnswer | ((request: Received) => TestAnswer)): void {
      choose = typeof next === 'function' ? next : () => next;
    },
    next(): Promise<Received> {
      const received = requests[taken];
      if (!received) return new Promise((resolve) => waiting.push(resolve));
      taken += 1;
      return Promise.resolve(received);
    },
    /** Drops the requests so far, so that `next` waits for later ones. */
    forget(): void {
      taken = requests.length;
    },
    close,
  };
}
