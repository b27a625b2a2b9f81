import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

/** The answer of the server to one request. */
type Reaction = (response: ServerResponse, request: IncomingMessage) => void;

export interface Seen {
  path: string;
  range: string | undefined;
  ifRange: string | undefined;
}

/** Answers with a status and no body. */
export const refuse =
  (status: number): Reaction =>
  (response) =>
    response.writeHead(status).end();

/**
 * Serves one file over HTTP, with ranges. The first requests are answered by `script`, all later ones with the file.
 */
export async function startFileServer(content: Buffer, { etag = '"one"' as string | undefined } = {}) {
  const requests: Seen[] = [];
  const script: Reaction[] = [];
  const sockets = new Set<Socket>();
  let arrived = Promise.withResolvers<void>();
  let tag = etag;

  /** RFC 9110 14.2 and 13.1.5: a range is served only if the file is still the same. */
  function begin(response: ServerResponse, request: IncomingMessage): Buffer {
    const { range, 'if-range': condition } = request.headers;
    const from = range !== undefined && condition === tag ? Number(/^bytes=(\d+)-$/.exec(range)?.[1]) : 0;
    const rest = content.subarray(from);
    const headers = { 'content-length': rest.length, ...(tag !== undefined && { etag: tag }) };
    if (from === 0) response.writeHead(200, headers);
    else {
      const last = content.length - 1;
      response.writeHead(206, { ...headers, 'content-range': `bytes ${from}-${last}/${content.length}` });
    }
    return rest;
  }

  const server = createServer((request, response) => {
    const { range, 'if-range': ifRange } = request.headers;
    requests.push({ path: request.url ?? '', range, ifRange: ifRange as string | undefined });
    arrived.resolve();
    arrived = Promise.withResolvers();
    const reaction = script.shift();
    if (reaction) reaction(response, request);
    else response.end(begin(response, request));
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;

  return {
    requests,
    script,
    sockets,
    /** Sends so many bytes of the requested range, and then nothing more. */
    partly:
      (bytes: number): Reaction =>
      (response, request) =>
        response.write(begin(response, request).subarray(0, bytes)),
    /** Ends all connections. */
    cut(): void {
      for (const socket of sockets) socket.destroy();
    },
    /** From now on the server has another file. */
    retag(next: string | undefined): void {
      tag = next;
    },
    async requestsAre(count: number): Promise<void> {
      while (requests.length < count) await arrived.promise;
    },
    source: (path = '/file') => ({
      url: `http://127.0.0.1:${port}${path}`,
      expiresAt: '2026-11-20T10:30:00.123456Z',
      size: content.length,
      sha256: createHash('sha256').update(content).digest('hex'),
    }),
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
    },
  };
}

export type FileServer = Awaited<ReturnType<typeof startFileServer>>;
