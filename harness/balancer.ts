import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A place behind a balancer. */
export interface Target {
  host?: string;
  port: number;
}

export interface Balancer extends AsyncDisposable {
  readonly port: number;
  /** Sends nothing to a target any more, or again; `cut`: what is connected to it ends. Targets are named by their place in the list. */
  leaveOut(index: number, leavesOut: boolean, cut?: boolean): void;
  /** Takes nothing from either side of any connection, as a network that swallows packets, until it is told otherwise. */
  freeze(frozen: boolean): void;
  /** Ends every connection. */
  cut(): void;
}

interface Pair {
  client: Socket;
  server: Socket;
  index: number;
}

/**
 * A TCP balancer on loopback, as one stands before the nodes of a cluster: each connection goes to the next target that
 * takes it. With one target it is a network between two that can be broken.
 */
export async function startBalancer(targets: readonly Target[], { port = 0 } = {}): Promise<Balancer> {
  const pairs = new Set<Pair>();
  const leftOut = new Set<number>();
  let next = 0;
  let frozen = false;

  function join(client: Socket, server: Socket, index: number): void {
    const pair = { client, server, index };
    pairs.add(pair);
    const end = (): void => {
      pairs.delete(pair);
      client.destroy();
      server.destroy();
    };
    client.once('close', end);
    server.once('close', end);
    client.pipe(server);
    server.pipe(client);
    if (frozen) hold(pair);
  }

  // Unpiped and paused, a socket is read by nobody, and its peer's writes pile up as on a dead line.
  function hold({ client, server }: Pair): void {
    client.unpipe(server).pause();
    server.unpipe(client).pause();
  }

  /** The first of the targets that takes the connection, beginning with the one whose turn it is; undefined when none does. */
  async function reach(): Promise<{ server: Socket; index: number } | undefined> {
    const first = next;
    next = (next + 1) % targets.length;
    for (let tried = 0; tried < targets.length; tried += 1) {
      const index = (first + tried) % targets.length;
      const target = targets[index];
      if (!target || leftOut.has(index)) continue;
      const server = connect({ port: target.port, host: target.host ?? '127.0.0.1', noDelay: true });
      server.on('error', () => undefined); // its end is seen
      const takes = await Promise.race([
        once(server, 'connect').then(() => true),
        once(server, 'close').then(() => false),
      ]).catch(() => false);
      if (takes) return { server, index };
      server.destroy();
    }
    return undefined;
  }

  const listener = createServer({ noDelay: true, pauseOnConnect: true }, (client) => {
    client.on('error', () => undefined);
    void reach().then((reached) => {
      if (!reached) client.destroy();
      else if (client.destroyed) reached.server.destroy();
      else join(client, reached.server, reached.index);
    });
  }).listen(port, '127.0.0.1');
  await once(listener, 'listening');

  return {
    port: (listener.address() as AddressInfo).port,
    leaveOut(index, leavesOut, cut = false) {
      if (leavesOut) leftOut.add(index);
      else leftOut.delete(index);
      if (cut) for (const pair of pairs) if (pair.index === index) pair.client.destroy();
    },
    freeze(freezes) {
      frozen = freezes;
      for (const pair of pairs) {
        if (frozen) hold(pair);
        else {
          pair.client.pipe(pair.server);
          pair.server.pipe(pair.client);
        }
      }
    },
    cut() {
      for (const { client } of pairs) client.destroy();
    },
    async [Symbol.asyncDispose]() {
      const closed = once(listener, 'close');
      listener.close();
      for (const { client } of pairs) client.destroy();
      await closed;
    },
  };
}
