import type { IncomingMessage } from 'node:http';

// How much of a refused body is still read, and for how many milliseconds its sender may read the answer. It is about the
// network's time, not the domain's, so it is no business of the injected clock.
const BYTES = 1024 * 1024;
const TIME = 2_000;

/**
 * To be called before an answer that ends the connection while the body of its request is still coming. Closing it at once
 * would reset it, and the client, still sending, could lose the answer (RFC 9112 9.6): so after the answer only this
 * side's half is closed, a little of the body is read and thrown away, and the rest waits in the sender until time is up.
 */
export function linger(request: IncomingMessage): void {
  const { socket } = request;
  const destroySoon = socket.destroySoon.bind(socket); // when all is written
  // What Node calls after the last answer of a connection.
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
