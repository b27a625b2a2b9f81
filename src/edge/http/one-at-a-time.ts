import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Requests that a client may send on one connection before it has the answer to an earlier one (RFC 9112 9.3.2). */
const PIPELINED = 16;

interface Connection {
  busy: boolean;
  waiting: [request: IncomingMessage, response: ServerResponse][];
}

interface Parts {
  serve(request: IncomingMessage, response: ServerResponse): void;
  /** The answer was sent, or the connection is gone. */
  onDone(socket: Socket): void;
  /** A connection had more than PIPELINED waiting requests and was closed. */
  onRefused(): void;
}

/**
 * Serves one request at a time per connection: the next one begins when the answer before it was sent. Without this, a
 * client that sends requests without reading answers would have as many requests in work, and answers in memory, as fit
 * into a TCP segment.
 */
export function oneAtATime({ serve, onDone, onRefused }: Parts) {
  const connections = new WeakMap<Socket, Connection>();

  function begin(connection: Connection, request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request;
    connection.busy = true;
    response.once('close', () => {
      connection.busy = false;
      onDone(socket);
      const next = socket.destroyed ? undefined : connection.waiting.shift();
      if (next) begin(connection, ...next);
    });
    serve(request, response);
  }

  return (request: IncomingMessage, response: ServerResponse): void => {
    const { socket } = request;
    if (socket.destroyed) return;
    let connection = connections.get(socket);
    if (!connection) {
      connection = { busy: false, waiting: [] };
      connections.set(socket, connection);
    }
    if (!connection.busy) {
      begin(connection, request, response);
    } else if (connection.waiting.length < PIPELINED) {
      connection.waiting.push([request, response]);
    } else {
      onRefused();
      socket.destroy();
    }
  };
}
