import { Readable } from 'node:stream';
import type { Clock } from '../../runtime/clock.ts';

/**
 * The most bytes that are buffered for a reader. Changes that come while the buffer is full are dropped; the rows are
 * read again when there is room.
 */
export const FEED_BUFFER = 256 * 1024;
/** Microseconds for which the buffer of a reader may stay full. After that the stream is cut. */
const STUCK_AFTER = 15_000_000;

/** Headers of the answer: no proxy may cache it, or buffer it. */
export const FEED_HEADERS = {
  'Content-Type': 'text/event-stream; charset=utf-8',
  'Cache-Control': 'no-store',
  'X-Accel-Buffering': 'no',
};

export interface FeedItem {
  topic: 'fleet' | 'devices' | 'transactions' | 'receivers' | 'software' | 'rollouts' | 'device' | 'audit';
  key: string;
  value: object;
}

/** Creates a stream of server-sent events (HTML, 9.2) for one reader, with a bounded buffer. */
export function createFeedStream(clock: Clock) {
  const body = new Readable({ highWaterMark: FEED_BUFFER, read: () => undefined });
  let fullSince: number | undefined;
  let ended = false;

  const write = (event: string, data: unknown): void => {
    if (!ended) body.push(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
  };

  return {
    body,
    /** True while the buffer is full, so that nothing may be written to the stream. */
    isFull: (): boolean => body.readableLength >= FEED_BUFFER,

    /** True when the buffer has been full for too long, or the ended stream was not read to its end in that time. */
    isStuck(): boolean {
      if (!ended && body.readableLength < FEED_BUFFER) fullSince = undefined;
      else fullSince ??= clock.now();
      return fullSince !== undefined && clock.now() - fullSince >= STUCK_AFTER;
    },

    snapshot: (items: readonly FeedItem[]): void => write('snapshot', items),
    change: (items: readonly FeedItem[]): void => write('change', items),
    /** Tells the reader how many messages of devices were not sent. */
    gap: (dropped: number): void => write('gap', { topic: 'device', dropped }),
    /** Sends a comment line, which readers ignore, so that proxies see that the stream is alive. */
    beat(): void {
      if (!ended) body.push(': \n\n');
    },

    /** Writes the reason and ends the stream. The bytes that are still buffered are sent. */
    end(reason: 'stopping' | 'session' | 'room'): void {
      if (ended) return;
      write('bye', { reason });
      ended = true;
      body.push(null);
    },

    /** Closes the stream at once; the bytes that are still buffered are lost. */
    cut(): void {
      ended = true;
      body.destroy();
    },
  };
}
