import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/**
 * While so many requests of a connection wait for an earlier one, no more are read from it (RFC 9112 9.3.2). Those that
 * arrived in the same piece of data wait, too.
 */
const PIPELINED = 16;
/** The most requests that wait so on all connections. A connection that brings more is closed. */
const MOST_WAITING = 4096;

interface Connection {
  busy: boolean;
  isHeld: boolean;
  waiting: [request: IncomingMessage, response: ServerResponse][];
}

interface Parts {
  serve(request: IncomingMessage, response: ServerResponse): void;
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
export function oneAtATime({ serve, onDone, onRefused }: Parts) {
  const connections = new WeakMap<Socket, Connection>();
  let waiting = 0;

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
    const { socket } = request;
    connection.busy = true;
    response.once('close', () => {
      connection.busy = false;
      onDone(socket);
      if (socket.destroyed) waiting -= connection.waiting.splice(0).length;
      const next = connection.waiting.shift();
      if (next) waiting -= 1;
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
      connection = { busy: false, isHeld: false, waiting: [] };
      connections.set(socket, connection);
    }
    if (!connection.busy) {
      begin(connection, request, response);
    } else if (waiting < MOST_WAITING) {
      waiting += 1;
      connection.waiting.push([request, response]);
      if (connection.waiting.length >= PIPELINED && !connection.isHeld) hold(connection, socket);
    } else {
      onRefused();
      socket.destroy();
    }
  };
}
