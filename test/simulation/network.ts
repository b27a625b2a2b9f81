import { createRequire, syncBuiltinESMExports } from 'node:module';
import type { LookupFunction, Server } from 'node:net';
import { Duplex } from 'node:stream';
import type { Program, WorldTime } from './time.ts';

const require = createRequire(import.meta.url);

/** Bytes on their way in one direction, after which a writer waits. */
const WINDOW = 256 * 1024;
/** The ports that listeners get, and from which on connections do; both begin again after the last one. */
const FIRST_OF_LISTENERS = 10_000;
const FIRST_PORT = 20_000;
const LAST_PORT = 65_535;

/** How the network is between two programs, at this moment. */
export interface Conditions {
  /** Milliseconds that a piece is on its way. */
  latency(): number;
  /** Bytes of a piece that travel together; the rest follows later. */
  piece(length: number): number;
  /** Whether new connections to a port come through. */
  isOpen(port: number): boolean;
}

interface Listener {
  readonly server: Server & { _connections: number; _emitCloseIfDrained(): void };
  readonly program: Program;
  readonly options: { noDelay?: boolean; pauseOnConnect?: boolean };
}

interface Reading {
  buffer: Buffer;
  callback(length: number, buffer: Buffer): boolean;
}

const failure = (code: string, text: string): Error =>
  Object.assign(new Error(`${text} ${code}`), { code, syscall: text });

/** A socket of the world, with the functions of Node's that the programs use. */
export class WorldSocket extends Duplex {
  readonly remoteAddress = '127.0.0.1';
  readonly remoteFamily = 'IPv4';
  readonly localAddress = '127.0.0.1';
  readonly remotePort: number;
  readonly localPort: number;
  readonly program: Program;
  readonly #network: Network;
  readonly #reading: Reading | undefined;
  connecting: boolean;
  peer: WorldSocket | undefined;
  /** The answer that Node's HTTP server writes. */
  _httpMessage?: { finished: boolean };
  bytesRead = 0;
  bytesWritten = 0;
  timeout = 0;
  /** When the last bytes that were sent arrive: what is sent later does not overtake them. */
  #arrivesAt = 0;
  #onItsWay = 0;
  #waiting: (() => void) | undefined;
  #cancelIdle: () => void = () => undefined;
  /** True while everything that is sent to it vanishes, and neither side is told. */
  isDeaf = false;

  constructor(
    network: Network,
    program: Program,
    {
      ports: [localPort, remotePort],
      connecting,
      allowHalfOpen = false,
      reading,
    }: { ports: [number, number]; connecting: boolean; allowHalfOpen?: boolean; reading?: Reading | undefined },
  ) {
    super({ allowHalfOpen, autoDestroy: true, emitClose: true });
    this.#network = network;
    this.program = program;
    this.localPort = localPort;
    this.remotePort = remotePort;
    this.connecting = connecting;
    this.#reading = reading;
    network.open.add(this);
    this.once('close', () => network.open.delete(this));
  }

  get pending(): boolean {
    return this.connecting;
  }

  get readyState(): string {
    if (this.connecting) return 'opening';
    if (this.readable) return this.writable ? 'open' : 'readOnly';
    return this.writable ? 'writeOnly' : 'closed';
  }

  /** Plans something that happens to this socket as soon as what was sent to it before has arrived. */
  #reaches(to: WorldSocket, kind: string, task: () => void): void {
    this.#arrivesAt = Math.max(this.#arrivesAt, this.#network.time.now + this.#network.conditions.latency());
    this.#network.time.plan(this.#arrivesAt - this.#network.time.now, kind, task, to.program);
  }

  override _read(): void {}

  override _write(chunk: Buffer, _encoding: string, done: (error?: Error) => void): void {
    if (this.connecting) return void this.once('connect', () => this._write(chunk, _encoding, done));
    const { peer } = this;
    if (!peer || peer.destroyed) {
      // The other side has gone: the first bytes after its end bring a reset.
      this.#network.time.plan(this.#network.conditions.latency(), 'reset', () => this.reset(), this.program);
      done();
      return;
    }
    this.bytesWritten += chunk.length;
    this.#touch();
    for (let from = 0; from < chunk.length; ) {
      const length = Math.min(chunk.length - from, Math.max(1, this.#network.conditions.piece(chunk.length - from)));
      const piece = Buffer.from(chunk.subarray(from, from + length));
      this.#onItsWay += length;
      this.#reaches(peer, `${length} bytes`, () => this.#arrive(peer, piece));
      from += length;
    }
    if (this.#onItsWay < WINDOW) done();
    else this.#waiting = done;
  }

  #arrive(peer: WorldSocket, piece: Buffer): void {
    if (peer.isDeaf) return; // nobody acknowledges it, so the writer's window stays full
    this.#onItsWay -= piece.length;
    if (this.#waiting && this.#onItsWay < WINDOW && !this.destroyed) {
      const done = this.#waiting;
      this.#waiting = undefined;
      this.#network.time.plan(0, 'window', done, this.program);
    }
    if (peer.destroyed) return;
    peer.bytesRead += piece.length;
    peer.#touch();
    if (!peer.#reading) return void peer.push(piece);
    const { buffer, callback } = peer.#reading;
    for (let from = 0; from < piece.length; from += buffer.length) {
      const length = piece.copy(buffer, 0, from);
      callback(length, buffer);
    }
  }

  override _final(done: (error?: Error | null) => void): void {
    if (this.connecting) return void this.once('connect', () => this._final(done));
    const { peer } = this;
    if (peer) this.#reaches(peer, 'end', () => peer.finish());
    done();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#cancelIdle();
    const { peer } = this;
    if (peer && !this.writableFinished)
      this.#reaches(peer, 'end', () => {
        if (error && !peer.isDeaf) peer.reset();
        else peer.finish();
      });
    this.#network.time.plan(0, 'closed', () => done(error), this.program);
  }

  /** The other side sends no more. */
  finish(): void {
    if (this.destroyed || this.isDeaf) return;
    this.push(null);
    this.read(0); // a socket whose bytes nobody reads from the stream ends as well
  }

  /** The other side, or the network, has ended the connection without a word. */
  reset(): void {
    if (!this.destroyed) this.destroy(failure('ECONNRESET', 'read'));
  }

  resetAndDestroy(): this {
    const { peer } = this;
    if (peer) this.#network.time.plan(this.#network.conditions.latency(), 'reset', () => peer.reset(), peer.program);
    return this.destroy();
  }

  destroySoon(): void {
    if (this.writable) this.end();
    if (this.writableFinished) this.destroy();
    else this.once('finish', () => this.destroy());
  }

  #touch(): void {
    if (this.timeout > 0) this.setTimeout(this.timeout);
  }

  setTimeout(milliseconds: number, task?: () => void): this {
    this.#cancelIdle();
    this.timeout = milliseconds;
    if (task) {
      if (milliseconds > 0) this.once('timeout', task);
      else this.off('timeout', task);
    }
    if (milliseconds > 0)
      this.#cancelIdle = this.#network.time.plan(milliseconds, 'idle', () => this.emit('timeout'), this.program);
    return this;
  }

  setNoDelay = (): this => this;
  setKeepAlive = (): this => this;
  ref = (): this => this;
  unref = (): this => this;
  address = () => ({ address: this.localAddress, port: this.localPort, family: 'IPv4' });
}

interface ConnectOptions {
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
    this.time.plan(0, 'accept', () => server.emit('connection', accepted), program);
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
    network().listen(this as unknown as Listener['server'], Number(port ?? 0));
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
