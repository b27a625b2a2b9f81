import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { largestGroup } from '../../runtime/largest-group.ts';

/**
 * While so many requests of a connection wait for an earlier one, no more are read from it (RFC 9112 9.3.2). Those that
 * arrived in the same piece of data wait, too.
 */
const PIPELINED = 16;
/**
 * The most requests that wait so on all connections of the listener. When more come, the address that has the most of
 * them loses the connection with the most, so a client that pipelines is only cut off by its own requests.
 */
const MOST_WAITING = 4096;

interface Connection {
  socket: Socket;
  address: string;
  busy: boolean;
  isHeld: boolean;
  waiting: [request: IncomingMessage, response: ServerResponse][];
}

interface Parts {
  serve(request: IncomingMessage, response: ServerResponse): void;
  /** The address of the client of a connection. */
  addressOf(socket: Socket): string;
  /** Called when the answer was sent, or the connection has ended. */
  onDone(socket: Socket): void;
  /** Called when a connection was closed, because too many requests waited. */
  onRefused(): void;
}

/**
 * Serves one request at a time per connection: the next one begins when the answer before it was sent. Without this
 * rule the service would work at once on all requests that fit into a TCP segment, and keep their answers in memory for
 * a client that does not read.
 */
export function oneAtATime({ serve, addressOf, onDone, onRefused }: Parts) {
  const connections = new WeakMap<Socket, Connection>();
  /** The connections on which requests wait. */
  const pipelining = new Set<Connection>();
  let waiting = 0;

  function take(connection: Connection): Connection['waiting'][number] | undefined {
    const next = connection.waiting.shift();
    if (next) waiting -= 1;
    if (connection.waiting.length === 0) pipelining.delete(connection);
    return next;
  }

  function forget(connection: Connection): void {
    waiting -= connection.waiting.splice(0).length;
    pipelining.delete(connection);
  }

  /** Closes the connection with the most waiting requests, of the address that has the most. */
  function closeLargest(): void {
    const waitingOn = ({ waiting: some }: Connection): number => some.length;
    const ofAddress = largestGroup(pipelining, ({ address }) => address, waitingOn);
    const [largest] = largestGroup(ofAddress, (one) => one, waitingOn);
    if (!largest) return;
    forget(largest);
    onRefused();
    largest.socket.destroy();
  }

  /** Reads no more. Node would resume the socket at the end of each request, so that has no effect meanwhile. */
  function hold(connection: Connection, socket: Socket): void {
    connection.isHeld = true;
    socket.pause();
    socket.resume = () => socket;
  }

  function letGo(connection: Connection, socket: Socket): void {
    connection.isHeld = false;
    delete (socket as Partial<Socket>).resume;
    socket.resume();
  }

  function begin(connection: Connection, request: IncomingMessage, response: ServerResponse): void {
    const { socket } = connection;
    connection.busy = true;
    response.once('close', () => {
      connection.busy = false;
      onDone(socket);
      if (socket.destroyed) forget(connection);
      const next = take(connection);
      if (connection.isHeld && connection.waiting.length < PIPELINED) letGo(connection, socket);
      if (next) begin(connection, ...next);
    });
    serve(request, response);
  }

  return (request: IncomingMessage, response: ServerResponse): void => {
    const { socket } = request;
    if (socket.destroyed) return;
    let connection = connections.get(socket);
    if (!connection) {
      connection = { socket, address: addressOf(socket), busy: false, isHeld: false, waiting: [] };
      connections.set(socket, connection);
    }
    if (!connection.busy) {
      begin(connection, request, response);
      return;
    }
    if (waiting >= MOST_WAITING) closeLargest();
    if (socket.destroyed) return;
    waiting += 1;
    connection.waiting.push([request, response]);
    pipelining.add(connection);
    if (connection.waiting.length >= PIPELINED && !connection.isHeld) hold(connection, socket);
  };
}
