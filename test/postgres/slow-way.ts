import { connect, createServer, type Socket } from 'node:net';
import type { Test } from 'tap';

/** A connection to a database with so many milliseconds in each direction. Counts the messages to the database. */
export async function createSlowWay(t: Test, url: string, { milliseconds = 0 } = {}) {
  const to = new URL(url);
  const target = { host: to.hostname, port: Number(to.port || 5432), noDelay: true };
  const sockets = new Set<Socket>();
  let ways = 0;
  let silent = false;

  const server = createServer({ noDelay: true }, (near) => {
    const far = connect(target);
    const pass = (from: Socket, into: Socket, count: boolean): void => {
      sockets.add(from);
      from.on('data', (chunk) => {
        if (silent) return;
        if (count) ways += 1;
        if (milliseconds === 0) into.write(chunk);
        else setTimeout(() => into.write(chunk), milliseconds);
      });
      from.on('error', () => undefined);
      from.on('close', () => {
        sockets.delete(from);
        into.destroy();
      });
    };
    pass(near, far, true);
    pass(far, near, false);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  to.hostname = '127.0.0.1';
  to.port = String((server.address() as { port: number }).port);

  return {
    url: to.href,
    /** The number of messages to the server. */
    ways: (): number => ways,
    /** From now on nothing arrives, and no side gets an error, as if the machine had failed. */
    goSilent(): void {
      silent = true;
    },
  };
}
