import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { Client } from 'undici';
import { closedByOtherSide } from './guarded-connect.ts';

/**
 * The connection of a request that was sent already, for another client that shall read the answer: it reads what had
 * arrived, then what arrives. What it writes, which is the same request, goes nowhere.
 */
class BegunSocket extends Duplex {
  readonly #socket: Socket;
  #arrived: Buffer | undefined;

  /** `arrived` is the beginning of the answer. The socket must have no other listeners for its data. */
  constructor(socket: Socket, arrived: Buffer) {
    super({ allowHalfOpen: false });
    this.#socket = socket;
    this.#arrived = arrived;
    socket.pause();
    socket.on('data', (chunk) => {
      if (!this.push(chunk)) socket.pause();
    });
    socket.on('end', () => this.push(null));
    socket.on('error', (cause) => this.destroy(cause));
  }

  override _read(): void {
    if (!this.#arrived) this.#socket.resume();
  }

  // A client takes an answer that comes before its request for a fault, so nothing is read until it has written.
  override _write(_chunk: Buffer, _encoding: BufferEncoding, written: () => void): void {
    const arrived = this.#arrived;
    this.#arrived = undefined;
    if (arrived && this.push(arrived)) this.#socket.resume();
    written();
  }

  override _destroy(cause: Error | null, destroyed: (cause: Error | null) => void): void {
    this.#socket.destroy();
    destroyed(cause);
  }
}

/**
 * Returns undici's client for one request that was sent already on the socket, and whose answer has begun with `arrived`.
 * The request must be dispatched at once, and only one.
 */
export function clientOfBegun(origin: string, socket: Socket, arrived: Buffer): Client {
  let given: BegunSocket | undefined = new BegunSocket(socket, arrived);
  const client = new Client(origin, {
    connect(_target, connected) {
      const begun = given;
      given = undefined; // a second connection would send the request again
      // A socket that is given at once stays unused: the client expects that connecting takes time.
      process.nextTick(() => {
        if (begun) connected(null, begun as unknown as Socket);
        else connected(closedByOtherSide(), null);
      });
    },
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  process.nextTick(() => void client.close()); // when the answer has ended
  return client;
}
