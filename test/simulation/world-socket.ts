import { Duplex } from 'node:stream';
import type { Program, WorldTime } from './time.ts';

/** Bytes on their way in one direction, after which a writer waits. */
const WINDOW = 256 * 1024;

/** How the network is between two programs, at this moment. */
export interface Conditions {
  /** Milliseconds that a piece is on its way. */
  latency(): number;
  /** Bytes of a piece that travel together; the rest follows later. */
  piece(length: number): number;
  /** Whether new connections to a port come through. */
  isOpen(port: number): boolean;
}

/** The network as a socket sees it. */
interface Around {
  readonly time: WorldTime;
  readonly conditions: Conditions;
  readonly open: Set<WorldSocket>;
}

/** A program that gets the bytes of a socket in a buffer of its own, as Node's `onread` does. */
export interface Reading {
  buffer: Buffer;
  callback(length: number, buffer: Buffer): boolean;
}

export const failure = (code: string, text: string): Error =>
  Object.assign(new Error(`${text} ${code}`), { code, syscall: text });

/** A socket of the world, with the functions of Node's that the programs use. */
export class WorldSocket extends Duplex {
  readonly remoteAddress = '127.0.0.1';
  readonly remoteFamily = 'IPv4';
  readonly localAddress = '127.0.0.1';
  readonly remotePort: number;
  readonly localPort: number;
  readonly program: Program;
  readonly #network: Around;
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
  /** Bytes that have arrived, and that nobody has read yet: they fill the window of the other side. */
  readonly #unread: Buffer[] = [];
  /** Whether the program reads: a socket that is paused, or whose stream is full, takes nothing in. */
  #isRead = true;
  #hasEnded = false;
  #cancelIdle: () => void = () => undefined;
  /** True until the program that listens has taken the connection. */
  isWaiting = false;
  #isReset = false;
  /** True while everything that is sent to it vanishes, and neither side is told. */
  isDeaf = false;

  constructor(
    network: Around,
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

  override _read(): void {
    if (this.#reading) return;
    this.#isRead = true;
    this.#takeIn();
  }

  override pause(): this {
    if (this.#reading) this.#isRead = false;
    return super.pause();
  }

  override resume(): this {
    if (this.#reading && !this.#isRead) {
      this.#isRead = true;
      this.#network.time.plan(0, 'resumed', () => this.#takeIn(), this.program);
    }
    return super.resume();
  }

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
    if (peer.destroyed) {
      this.#wasRead(piece.length);
      return;
    }
    peer.#unread.push(piece);
    peer.#takeIn();
  }

  /** The other side has read these bytes: there is room for others. */
  #wasRead(bytes: number): void {
    this.#onItsWay -= bytes;
    if (!this.#waiting || this.#onItsWay >= WINDOW || this.destroyed) return;
    const done = this.#waiting;
    this.#waiting = undefined;
    this.#network.time.plan(0, 'window', done, this.program);
  }

  /** Gives the program the bytes that have arrived, as long as it reads. */
  #takeIn(): void {
    while (this.#isRead && !this.destroyed) {
      const piece = this.#unread.shift();
      if (!piece) break;
      const { peer } = this;
      if (peer) peer.#wasRead(piece.length);
      this.bytesRead += piece.length;
      this.#touch();
      if (!this.#reading) {
        this.#isRead = this.push(piece);
        continue;
      }
      const { buffer, callback } = this.#reading;
      for (let from = 0; from < piece.length; from += buffer.length) {
        if (!this.#isRead) {
          this.#unread.unshift(piece.subarray(from));
          break;
        }
        const length = piece.copy(buffer, 0, from);
        callback(length, buffer);
      }
    }
    if (!this.#hasEnded || !this.#isRead || this.#unread.length > 0 || this.destroyed) return;
    this.#hasEnded = false;
    this.push(null);
    this.read(0); // a socket whose bytes nobody reads from the stream ends as well
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
    this.#hasEnded = true;
    this.#takeIn();
  }

  /** The other side, or the network, has ended the connection without a word. */
  reset(): void {
    if (this.isWaiting) this.#isReset = true;
    else if (!this.destroyed) this.destroy(failure('ECONNRESET', 'read'));
  }

  /** The program takes the connection, and notices only now that it was reset. */
  accept(taken: () => void): void {
    this.isWaiting = false;
    taken();
    if (this.#isReset) this.#network.time.plan(0, 'reset', () => this.reset(), this.program);
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
