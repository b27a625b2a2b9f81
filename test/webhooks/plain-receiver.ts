import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { createServer as createTlsServer, type TlsOptions } from 'node:tls';
import type { Test } from 'tap';

export type AnswerWith = (socket: Socket, onThis: number, connection: number) => void;

/**
 * A receiver that writes its answers byte by byte: `answer` gets each request with its number on its connection, and the
 * number of the connection, both from 1 on.
 */
export async function startPlainReceiver(
  t: Test,
  answer: AnswerWith,
  { host = '127.0.0.1', tls }: { host?: string; tls?: TlsOptions } = {},
) {
  const seen: string[] = [];
  let connections = 0;
  let open = 0;
  const serve = (socket: Socket): void => {
    connections += 1;
    open += 1;
    const connection = connections;
    let requests = 0;
    let text = '';
    socket.on('error', () => undefined);
    socket.on('close', () => {
      open -= 1;
    });
    socket.setEncoding('utf8').on('data', (more: string) => {
      text += more;
      const [head = '', body] = text.split('\r\n\r\n');
      const length = Number(/content-length: (\d+)/i.exec(head)?.[1]);
      if (body === undefined || Buffer.byteLength(body) < length) return;
      text = '';
      requests += 1;
      seen.push(/webhook-id: (\S+)/i.exec(head)?.[1] ?? '');
      answer(socket, requests, connection);
    });
    t.teardown(() => socket.destroy());
  };
  const server = tls ? createTlsServer(tls, serve) : createServer(serve);
  server.listen(0, host);
  await once(server, 'listening');
  t.teardown(() => server.close());
  const { port } = server.address() as AddressInfo;
  return {
    url: `${tls ? 'https' : 'http'}://${host.includes(':') ? `[${host}]` : host}:${port}/`,
    /** The webhook-id of each request. */
    seen,
    connections: () => connections,
    /** The connections that are open. */
    open: () => open,
  };
}
