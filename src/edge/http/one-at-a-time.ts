import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock } from '../../runtime/clock.ts';
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

interface Exchange {
  request: IncomingMessage;
  response: ServerResponse;
  /** True when Node's time for the request ran out while it waited, so that Node looks at it no more. */
  isLate: boolean;
}

interface Connection {
  socket: Socket;
  address: string;
  inWork: Exchange | undefined;
  isHeld: boolean;
  waiting: Exchange[];
  /** True when Node's time for a head ran out that has arrived in part, behind a request in work. */
  isHeadLate: boolean;
  /** Stops the time that the client has for the rest of a late request. */
  stopTime(): void;
}

interface Parts {
  clock: Pick<Clock, 'after'>;
  /** Milliseconds in which the head and the whole of a request must arrive. */
  timeouts: { head: number; whole: number };
  serve(request: IncomingMessage, response: ServerResponse): void;
  /** The address of the client of a connection. */
  addressOf(socket: Socket): string;
  /** Called when the answer was sent, or the connection has ended. */
  onDone(socket: Socket): void;
  /** Called when a connection was closed, because too many requests waited. */
  onRefused(): void;
  /** Called when the rest of a late request did not arrive in its time. */
  onSlow(socket: Socket): void;
}

const NOTHING = (): void => undefined;

/**
 * Serves one request at a time per connection: the next one begins when the answer before it was sent. Without this
 * rule the service would work at once on all requests that fit into a TCP segment, and keep their answers in memory for
 * a client that does not read.
 *
 * Node counts the time of a request from its first byte, also while the service reads no more or works on an earlier
 * request. That time is not the client's, so `isOurs` tells it apart. The client has its whole time again for the rest of
 * such a request, from the moment in which the service waits for it.
 */
export function oneAtATime({ clock, timeouts, serve, addressOf, onDone, onRefused, onSlow }: Parts) {
  const connections = new WeakMap<Socket, Connection>();
  /** The connections on which requests wait. */
  const pipelining = new Set<Connection>();
  let waiting = 0;

  function next(connection: Connection): Exchange | undefined {
    const first = connection.waiting.shift();
    if (first) waiting -= 1;
    if (connection.waiting.length === 0) pipelining.delete(connection);
    return first;
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

  /** Gives the client time for a late head, or for the rest of a late request. */
  function giveTime(connection: Connection, milliseconds: number, request?: IncomingMessage): void {
    connection.stopTime = clock.after(milliseconds, () => {
      if (!request?.complete) onSlow(connection.socket);
    });
  }

  function begin(connection: Connection, exchange: Exchange): void {
    const { socket } = connection;
    const { request, response, isLate } = exchange;
    connection.inWork = exchange;
    if (isLate && !request.complete) giveTime(connection, timeouts.whole, request);
    response.once('close', () => {
      // A request can be answered before all of it has come; Node does not count its time any more.
      if (request.complete) connection.stopTime();
      connection.inWork = undefined;
      onDone(socket);
      if (socket.destroyed) forget(connection);
      const following = next(connection);
      if (connection.isHeld && connection.waiting.length < PIPELINED) letGo(connection, socket);
      if (following) begin(connection, following);
      else if (connection.isHeadLate && !socket.destroyed) giveTime(connection, timeouts.head);
    });
    serve(request, response);
  }

  function connectionOf(socket: Socket): Connection {
    const known = connections.get(socket);
    if (known) return known;
    const address = addressOf(socket);
    const fresh = { isHeld: false, isHeadLate: false, waiting: [], stopTime: NOTHING };
    const connection: Connection = { ...fresh, socket, address, inWork: undefined };
    connections.set(socket, connection);
    socket.once('close', () => connection.stopTime());
    return connection;
  }

  return {
    take(request: IncomingMessage, response: ServerResponse): void {
      const { socket } = request;
      if (socket.destroyed) return;
      const connection = connectionOf(socket);
      const exchange = { request, response, isLate: connection.isHeadLate };
      connection.isHeadLate = false;
      if (!connection.inWork) {
        connection.stopTime();
        begin(connection, exchange);
        return;
      }
      if (waiting >= MOST_WAITING) closeLargest();
      if (socket.destroyed) return;
      waiting += 1;
      connection.waiting.push(exchange);
      pipelining.add(connection);
      if (connection.waiting.length >= PIPELINED && !connection.isHeld) hold(connection, socket);
    },

    /**
     * Called when Node's time for a request of the connection has run out. Returns true when the request waits for the
     * service: it came behind one that has arrived and is in work. Then the connection stays open.
     */
    isOurs(socket: Socket): boolean {
      const connection = connections.get(socket);
      if (!connection?.inWork?.request.complete) return false;
      const last = connection.waiting.at(-1);
      if (last && !last.request.complete) last.isLate = true;
      else connection.isHeadLate = true;
      return true;
    },

    /** True when a part of an answer was sent on the connection, and its end was not. */
    isAnswering: (socket: Socket): boolean => connections.get(socket)?.inWork?.response.headersSent ?? false,
  };
}
