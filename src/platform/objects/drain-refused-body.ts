import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '../../runtime/clock.ts';

// How much of a refused body is still read, and for how many milliseconds.
const BYTES = 1024 * 1024;
const TIME = 2_000;

/**
 * Ends a connection whose answer came before the request's body. Closing it at once would reset it, and the client,
 * still sending, could lose the answer; so a little of the body is read and thrown away first.
 */
export function lingeringClose(request: IncomingMessage, response: ServerResponse, clock: Clock): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let left = BYTES;
  const finish = (): void => {
    cancel();
    response.end();
    request.destroy();
    resolve();
  };
  const cancel = clock.after(TIME, finish);
  request.once('end', finish);
  request.once('close', finish);
  request.once('error', finish);
  request.on('data', (chunk: Buffer) => {
    left -= chunk.length;
    if (left < 0) finish();
  });
  request.resume();
  return promise;
}
