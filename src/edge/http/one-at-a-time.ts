import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/**
 * The most requests that a client may have waiting on one connection while an earlier one is served (RFC 9112 9.3.2).
 */
const PIPELINED = 16;

interface Connection {
  busy: boolean;
  waiting: [request: IncomingMessage, response: ServerResponse][];
}

interface Parts {
  serve(request: IncomingMessage, response: ServerResponse): void;
  /** Called when the answer was sent, or the connection has ended. */
  onDone(socket: Socket): void;
  /** Called when a connection was closed, because more than PIPELINED of its requests waited. */
  onRefused(): void;
}

/**
 * Serves one request at a time per connection: the next one begins when the answer before it was sent. Without this
 * rule the service would work at once on all requests that fit into a TCP segment, and keep their answers in memory for
 * a client that does not read.
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
