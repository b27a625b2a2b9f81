import type { LookupFunction, Server } from 'node:net';
import type { Program, WorldTime } from './time.ts';
import { type Conditions, failure, type Reading, WorldSocket } from './world-socket.ts';

/** The ports that listeners get, and from which on connections do; both begin again after the last one. */
const FIRST_OF_LISTENERS = 10_000;
const FIRST_PORT = 20_000;
const LAST_PORT = 65_535;
interface Listener {
  readonly server: Server & { _connections: number; _emitCloseIfDrained(): void };
  readonly program: Program;
  readonly options: { noDelay?: boolean; pauseOnConnect?: boolean };
}

export interface ConnectOptions {
  port?: number | string;
  onread?: Reading;
  lookup?: LookupFunction;
  allowHalfOpen?: boolean;
}

/** The network of a world: every program listens and connects on one machine. */
export class Network {
  readonly time: WorldTime;
  readonly conditions: Conditions;
  readonly open = new Set<WorldSocket>();
  readonly #listeners = new Map<number, Listener>();
  /** The ports of connections that are open. */
  readonly #taken = new Set<number>();
  #lastPort = FIRST_PORT;
  #lastOfListeners = FIRST_OF_LISTENERS;

  constructor(time: WorldTime, conditions: Conditions) {
    this.time = time;
    this.conditions = conditions;
  }

  #freePort(): number {
    do this.#lastPort = this.#lastPort < LAST_PORT ? this.#lastPort + 1 : FIRST_PORT;
    while (this.#taken.has(this.#lastPort));
    return this.#lastPort;
  }

  #freePortOfListener(): number {
    do this.#lastOfListeners = this.#lastOfListeners < FIRST_PORT - 1 ? this.#lastOfListeners + 1 : FIRST_OF_LISTENERS;
    while (this.#listeners.has(this.#lastOfListeners));
    return this.#lastOfListeners;
  }

  listen(server: Listener['server'], wanted: number): void {
    const port = wanted === 0 ? this.#freePortOfListener() : wanted;
    const { program } = this.time;
    const known = this.#listeners.get(port);
    if (known?.program.isAlive) {
      this.time.plan(0, 'refused', () => server.emit('error', failure('EADDRINUSE', 'listen')));
      return;
    }
    const listener: Listener = { server, program, options: server as unknown as Listener['options'] };
    this.#listeners.set(port, listener);
    const ignored = (): void => undefined;
    Object.assign(server, {
      _handle: {
        close: () => this.#listeners.get(port) === listener && this.#listeners.delete(port),
        ref: ignored,
        unref: ignored,
        getsockname(out: object) {
          Object.assign(out, { address: '127.0.0.1', family: 'IPv4', port });
          return 0;
        },
      },
    });
    this.time.plan(0, 'listening', () => server.emit('listening'));
  }

  connect(options: ConnectOptions): WorldSocket {
    const port = Number(options.port);
    const { onread: reading, allowHalfOpen = false } = options;
    const own = this.#freePort();
    const socket = new WorldSocket(this, this.time.program, {
      ports: [own, port],
      connecting: true,
      allowHalfOpen,
      reading,
    });
    this.#taken.add(own);
    socket.once('close', () => this.#taken.delete(own));
    this.time.plan(this.conditions.latency(), 'connect', () => this.#meet(socket, port));
    return socket;
  }

  #meet(socket: WorldSocket, port: number): void {
    if (socket.destroyed) return;
    const listener = this.#listeners.get(port);
    if (!listener?.program.isAlive || !this.conditions.isOpen(port)) {
      socket.destroy(Object.assign(failure('ECONNREFUSED', 'connect'), { port, address: '127.0.0.1' }));
      return;
    }
    const { server, program, options } = listener;
    const accepted = new WorldSocket(this, program, {
      ports: [port, socket.localPort],
      connecting: false,
      allowHalfOpen: (server as unknown as { allowHalfOpen: boolean }).allowHalfOpen,
    });
    accepted.peer = socket;
    socket.peer = accepted;
    server._connections += 1;
    accepted.once('close', () => {
      server._connections -= 1;
      server._emitCloseIfDrained();
    });
    Object.assign(accepted, { server });
    if (options.pauseOnConnect) accepted.pause();
    accepted.isWaiting = true;
    this.time.plan(0, 'accept', () => accepted.accept(() => server.emit('connection', accepted)), program);
    socket.connecting = false;
    socket.emit('connect');
    socket.emit('ready');
  }

  /** Ends all connections of a program that was killed. */
  drop(program: Program): void {
    for (const [port, listener] of this.#listeners) if (listener.program === program) this.#listeners.delete(port);
    for (const socket of this.open) {
      if (socket.program !== program) continue;
      this.open.delete(socket);
      this.#taken.delete(socket.localPort);
      const { peer } = socket;
      socket.peer = undefined;
      if (peer && peer.program !== program)
        this.time.plan(this.conditions.latency(), 'reset', () => peer.reset(), peer.program);
    }
  }
}
