import { connect, type Socket } from 'node:net';

interface RawAnswer {
  status: number;
  /** Everything that arrived: heads and bodies, also of `100 Continue`. */
  text: string;
}

interface RawRequest {
  method?: string;
  headers?: Record<string, string>;
  body?: Buffer | string;
  /** Called once the request is written; may write more, or cut the connection. */
  afterwards?(socket: Socket): void;
}

/**
 * One request over a separate connection, written unchanged, however wrong. Resolves when the server has closed the
 * connection (`Connection: close` asks for it), with everything that arrived.
 */
export function rawRequest(url: string, request: RawRequest): Promise<RawAnswer> {
  const { hostname, port, host, pathname, search } = new URL(url);
  const { method = 'PUT', body = '', headers = {} } = request;
  const lines = Object.entries({ Host: host, Connection: 'close', ...headers }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  const { promise, resolve } = Promise.withResolvers<RawAnswer>();
  const chunks: Buffer[] = [];
  const socket = connect(Number(port), hostname);
  socket.on('data', (chunk) => chunks.push(chunk));
  socket.on('error', () => undefined); // a reset counts as an end
  socket.on('close', () => {
    const text = Buffer.concat(chunks).toString('latin1');
    const last = [...text.matchAll(/^HTTP\/1\.1 (\d{3})/gm)].at(-1);
    resolve({ status: Number(last?.[1] ?? 0), text });
  });
  socket.write(`${method} ${pathname}${search} HTTP/1.1\r\n${lines.join('')}\r\n`);
  socket.write(body);
  request.afterwards?.(socket);
  return promise;
}
