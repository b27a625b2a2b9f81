import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** An address behind the balancer. */
export interface Target {
  host?: string;
  port: number;
}

export interface Balancer extends AsyncDisposable {
  readonly port: number;
  /**
   * Stops sending new connections to a target, or begins again; with `cut`, its present connections end. A target is named
   * by its index.
   */
  leaveOut(index: number, leavesOut: boolean, cut?: boolean): void;
  /** Stops reading from both sides of all connections, like a network that swallows packets, until it is unfrozen. */
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
 * Starts a TCP balancer on loopback, as it stands before the nodes of a cluster: each connection goes to the next target that
 * accepts it. With one target it serves as a network connection that can be broken.
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

  // An unpiped and paused socket is not read, so that its peer's writes pile up, as on a dead line.
  function hold({ client, server }: Pair): void {
    client.unpipe(server).pause();
    server.unpipe(client).pause();
  }

  /** Connects to the next target that accepts; undefined when none does. */
  async function reach(): Promise<{ server: Socket; index: number } | undefined> {
    const first = next;
    next = (next + 1) % targets.length;
    for (let tried = 0; tried < targets.length; tried += 1) {
      const index = (first + tried) % targets.length;
      const target = targets[index];
      if (!target || leftOut.has(index)) continue;
      const server = connect({ port: target.port, host: target.host ?? '127.0.0.1', noDelay: true });
      server.on('error', () => undefined); // the 'close' event reports it
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
