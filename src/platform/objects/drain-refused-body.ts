import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '../../runtime/clock.ts';

// Of a refused body, at most this many bytes are read, for at most this many milliseconds.
const DRAINED_BYTES = 1024 * 1024;
const DRAIN_MS = 2_000;

/**
 * Ends a connection whose answer was sent before the request's body arrived. If it were closed at once, it would be reset,
 * and the client, still sending, could lose the answer; so a part of the body is read and thrown away first.
 */
export function drainRefusedBody(request: IncomingMessage, response: ServerResponse, clock: Clock): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let left = DRAINED_BYTES;
  const finish = (): void => {
    cancel();
    response.end();
    request.destroy();
    resolve();
  };
  const cancel = clock.after(DRAIN_MS, finish);
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
