import type { AddressInfo } from 'node:net';
import { connect, createServer, type Socket } from 'node:net';
import type { Test } from 'tap';

/** A line between a browser and the service, which a test can cut and mend, and on which it can say something itself. */
export async function openLine(t: Test, to: string) {
  const { hostname, port } = new URL(to);
  const sockets = new Set<Socket>();
  /** The ends towards the browser of streams of the feed. */
  const streams = new Set<Socket>();
  let isCut = false;
  const server = createServer((near) => {
    if (isCut) return void near.destroy();
    const far = connect(Number(port), hostname);
    near.pipe(far).pipe(near);
    far.on('data', (piece) => {
      if (piece.includes('text/event-stream')) streams.add(near);
    });
    near.once('close', () => streams.delete(near));
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(one);
      one.on('error', () => undefined);
      one.on('close', () => {
        sockets.delete(one);
        other.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut(): void {
      isCut = true;
      for (const socket of sockets) socket.destroy();
    },
    mend(): void {
      isCut = false;
    },
    /** Says an event on each open stream, as the service would: in a chunk of its own (RFC 9112 7.1). */
    say(event: string, data: object): void {
      const text = `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
      for (const stream of streams) stream.write(`${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`);
    },
  };
}
