import { createRequire, syncBuiltinESMExports } from 'node:module';
import type { Server } from 'node:net';
import type { ConnectOptions, Network } from './network.ts';
import type { WorldSocket } from './world-socket.ts';

const require = createRequire(import.meta.url);

/** A connection of Node's HTTP server. */
interface Parsed {
  readonly socket: WorldSocket;
}

/** Replaces the sockets of this whole process by those of a world. */
export function replaceNetwork(network: () => Network): void {
  const net = require('node:net') as typeof import('node:net');
  const http = require('node:http') as typeof import('node:http');
  const dns = require('node:dns') as typeof import('node:dns');
  const listen = function (this: Server, ...given: unknown[]): Server {
    const [first] = given;
    const done = given.at(-1);
    const port = typeof first === 'object' && first !== null ? (first as { port?: number }).port : first;
    if (typeof done === 'function') this.once('listening', done as () => void);
    network().listen(this as never, Number(port ?? 0));
    return this;
  };
  net.Server.prototype.listen = listen as unknown as Server['listen'];
  const connect = (...given: unknown[]): WorldSocket => {
    const [first, second] = given;
    const options = typeof first === 'object' && first !== null ? (first as ConnectOptions) : { port: Number(first) };
    const done = given.findLast((one) => typeof one === 'function') as (() => void) | undefined;
    const socket = network().connect(
      typeof second === 'object' && second !== null ? { ...second, ...options } : options,
    );
    if (done) socket.once('connect', done);
    return socket;
  };
  Object.assign(net, { connect, createConnection: connect });
  http.Agent.prototype.createConnection = ((
    options: ConnectOptions,
    done?: (error: null, socket: WorldSocket) => void,
  ) => {
    const socket = connect(options);
    if (done) socket.once('connect', () => undefined);
    return socket;
  }) as unknown as typeof http.Agent.prototype.createConnection;
  // Node knows the connections of a server in the order of their addresses in memory; here it is that of their ports.
  const knownTo = (server: object): { idle(): Parsed[]; all(): Parsed[] } => {
    const symbol = Object.getOwnPropertySymbols(server).find(
      ({ description }) => description === 'http.server.connections',
    );
    return (server as Record<symbol, { idle(): Parsed[]; all(): Parsed[] }>)[symbol!]!;
  };
  const inOrder = (found: Parsed[]): WorldSocket[] =>
    found.map(({ socket }) => socket).sort((one, two) => one.remotePort - two.remotePort);
  Object.assign(http.Server.prototype, {
    closeIdleConnections(this: object) {
      for (const socket of inOrder(knownTo(this).idle())) if (socket._httpMessage?.finished !== false) socket.destroy();
    },
    closeAllConnections(this: object) {
      for (const socket of inOrder(knownTo(this).all())) socket.destroy();
    },
  });
  const address = { address: '127.0.0.1', family: 4 };
  const lookup = (_host: string, given: unknown, done?: unknown): void => {
    const answer = (done ?? given) as (...values: unknown[]) => void;
    const { all } = (typeof given === 'object' && given !== null ? given : {}) as { all?: boolean };
    network().time.plan(0, 'lookup', () =>
      all ? answer(null, [address]) : answer(null, address.address, address.family),
    );
  };
  Object.assign(dns, { lookup });
  Object.assign(dns.promises, {
    lookup: async (_host: string, given?: { all?: boolean }) => (given?.all ? [address] : address),
  });
  syncBuiltinESMExports();
}
