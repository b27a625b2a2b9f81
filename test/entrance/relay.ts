import { connect, createServer, type Socket } from 'node:net';
import type { Test } from 'tap';
import { listenOn } from '../../src/runtime/listening.ts';

/** A proxy on TCP: it connects to the service, sends a header, and then passes all bytes on. Returns its port. */
export async function startRelay(t: Test, url: string, header: Buffer, { from = '127.0.0.1' } = {}): Promise<number> {
  const { hostname, port } = new URL(url);
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const service = connect({ host: hostname, port: Number(port), localAddress: from, noDelay: true });
    for (const [socket, other] of [
      [client, service],
      [service, client],
    ] as const) {
      sockets.add(socket);
      socket.on('error', () => undefined).on('close', () => other.destroy());
    }
    if (header.length > 0) service.write(header);
    client.pipe(service).pipe(client);
  });
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return listenOn(server, '127.0.0.1', 0);
}

/** The URL of a relay in front of a listener. */
export function through(url: string, port: number): string {
  const relayed = new URL(url);
  relayed.port = String(port);
  return relayed.href.replace(/\/$/, '');
}
