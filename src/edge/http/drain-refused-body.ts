import type { IncomingMessage } from 'node:http';

// Bytes of a refused body that are still read, and milliseconds within which its sender may read the answer. The times
// of sockets must pass for real, so the clock that tests can set is not used here.
const BYTES = 1024 * 1024;
const TIME = 2_000;

/**
 * Call this before an answer that ends the connection while the body of its request is still arriving. Closing the
 * connection at once would reset it, and a client that is still sending could lose the answer (RFC 9112 9.6). So after
 * the answer only this side of the connection is closed, a little of the body is read and thrown away, and the rest
 * stays with the sender until the time is up.
 */
export function drainRefusedBody(request: IncomingMessage): void {
  const { socket } = request;
  const destroySoon = socket.destroySoon.bind(socket); // closes the socket when all is written
  // Node calls `destroySoon` after the last answer of a connection.
  socket.destroySoon = () => {
    if (request.complete) {
      destroySoon();
      return;
    }
    socket.end();
    const timer = setTimeout(() => socket.destroy(), TIME).unref();
    socket.once('close', () => clearTimeout(timer));
    let left = BYTES;
    request.on('data', (chunk: Buffer) => {
      left -= chunk.length;
      if (left < 0) request.pause();
    });
    request.once('end', destroySoon);
    request.resume();
  };
}
