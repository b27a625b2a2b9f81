import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Test } from 'tap';

/** Where a connection is cut: before the service has the request, or after it has answered. */
export type Cut = 'before' | 'after';

/** A front of a service that cuts the network at a request. */
export interface CuttingFront {
  url: string;
  /** The changing requests that came through it. */
  writes: string[];
  /**
   * Cuts the connection of the changing request of this number, from 1, and of all requests after it: the command or its
   * network is gone from there on.
   */
  cutAt(number: number, where: Cut): void;
}

/** Stands between the command line and a service. */
export async function createCuttingFront(t: Test, target: string): Promise<CuttingFront> {
  let cut: { number: number; where: Cut } | undefined;
  const writes: string[] = [];
  const pass = (from: IncomingMessage, to: ServerResponse): void => {
    const { method = '', url = '', headers } = from;
    const isWrite = method !== 'GET' && !url.endsWith('/authenticate') && !url.endsWith('/count');
    if (isWrite) writes.push(`${method} ${url}`);
    const over = cut !== undefined && writes.length > cut.number;
    const isAt = cut !== undefined && isWrite && writes.length === cut.number;
    if (over || (isAt && cut?.where === 'before')) {
      from.socket.destroy();
      return;
    }
    const inner = request(new URL(url, target), { method, headers }, (answer) => {
      if (isAt) {
        answer.resume();
        answer.on('end', () => from.socket.destroy());
        if (cut) cut.number -= 1; // nothing passes any more, not even a repetition of this request
        return;
      }
      to.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(to);
    });
    inner.on('error', () => from.socket.destroy());
    from.pipe(inner);
  };
  const server = createServer(pass);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    writes,
    cutAt(number, where) {
      writes.length = 0;
      cut = { number, where };
    },
  };
}
