import { Readable } from 'node:stream';
import type { Clock } from '../../runtime/clock.ts';

/**
 * The most bytes that wait for a reader. Changes that come while the buffer is full are not kept; they are read again
 * when there is room.
 */
export const FEED_BUFFER = 256 * 1024;
/** Microseconds within which a reader must make room. */
const STUCK_AFTER = 15_000_000;

/** Headers of the answer: no proxy may cache it, or buffer it. */
export const FEED_HEADERS = {
  'Content-Type': 'text/event-stream; charset=utf-8',
  'Cache-Control': 'no-store',
  'X-Accel-Buffering': 'no',
};

export interface FeedItem {
  topic: 'fleet' | 'devices' | 'transactions' | 'receivers' | 'software' | 'device';
  key: string;
  value: object;
}

/** Server-sent events (HTML, 9.2) to one reader, with a bounded buffer. */
export function createFeedStream(clock: Clock) {
  const body = new Readable({ highWaterMark: FEED_BUFFER, read: () => undefined });
  let fullSince: number | undefined;
  let ended = false;

  const write = (event: string, data: unknown): void => {
    if (!ended) body.push(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
  };

  return {
    body,
    /** True while nothing more may be written to the stream. */
    isFull: (): boolean => body.readableLength >= FEED_BUFFER,

    /** True when the reader has made no room for too long, or has not taken the end of the stream. */
    isStuck(): boolean {
      if (!ended && body.readableLength < FEED_BUFFER) fullSince = undefined;
      else fullSince ??= clock.now();
      return fullSince !== undefined && clock.now() - fullSince >= STUCK_AFTER;
    },

    snapshot: (items: readonly FeedItem[]): void => write('snapshot', items),
    change: (items: readonly FeedItem[]): void => write('change', items),
    /** Tells the reader how many messages were left out. */
    gap: (dropped: number): void => write('gap', { topic: 'device', dropped }),
    /** Sends a comment, which is no event, as a sign of life. */
    beat(): void {
      if (!ended) body.push(': \n\n');
    },

    /** Ends the stream with a reason; the buffered rest is still sent. */
    end(reason: 'stopping' | 'session' | 'room'): void {
      if (ended) return;
      write('bye', { reason });
      ended = true;
      body.push(null);
    },

    /** Ends the stream at once, without its buffered rest. */
    cut(): void {
      ended = true;
      body.destroy();
    },
  };
}
