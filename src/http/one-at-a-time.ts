import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Requests that a client may send on one connection before it has the answer to an earlier one (RFC 9112 9.3.2). */
export const PIPELINED = 16;

type Exchange = [request: IncomingMessage, response: ServerResponse];

interface Parts {
  serve(request: IncomingMessage, response: ServerResponse): void;
  /** A connection had more than PIPELINED waiting and was closed. */
  onRefused(): void;
}

/**
 * One request at a time per connection: the next one begins when the answer before it has been sent. Else whoever sends
 * requests without reading answers would have as many in work, and their answers in memory, as fit into a segment.
 */
export function oneAtATime({ serve, onRefused }: Parts) {
  const connections = new WeakMap<Socket, Exchange[]>();

  function begin(socket: Socket, [request, response]: Exchange, waiting: Exchange[]): void {
    response.once('close', () => {
      const next = waiting.shift();
      if (next && !socket.destroyed) begin(socket, next, waiting);
      else connections.delete(socket);
    });
    serve(request, response);
  }

  return (request: IncomingMessage, response: ServerResponse): void => {
    const { socket } = request;
    if (socket.destroyed) return;
    const waiting = connections.get(socket);
    if (!waiting) {
      const others: Exchange[] = [];
      connections.set(socket, others);
      begin(socket, [request, response], others);
    } else if (waiting.length < PIPELINED) {
      waiting.push([request, response]);
    } else {
      onRefused();
      socket.destroy();
    }
  };
}
