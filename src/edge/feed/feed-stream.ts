import { Readable } from 'node:stream';
import type { Clock } from '../../runtime/clock.ts';

/** Bytes that wait for a reader at most; what comes while there is no room is not kept, but read again when there is. */
export const FEED_BUFFER = 256 * 1024;
/** Microseconds in which a reader makes room. */
const PATIENCE = 15_000_000;

/** Of the answer: nobody on the way may keep it, or wait for more of it. */
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

export type FeedStream = ReturnType<typeof createFeedStream>;

/** Server-sent events (HTML, 9.2) to one reader: what is written waits for it in bounded room. */
export function createFeedStream(clock: Clock) {
  const body = new Readable({ highWaterMark: FEED_BUFFER, read: () => undefined });
  let fullSince: number | undefined;
  let ended = false;

  const write = (event: string, data: unknown): void => {
    if (!ended) body.push(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
  };

  return {
    body,
    /** True while nothing more may be written. */
    isFull: (): boolean => body.readableLength >= FEED_BUFFER,

    /** True when its reader has made no room for too long, or has not taken the end. */
    isStuck(): boolean {
      if (!ended && body.readableLength < FEED_BUFFER) fullSince = undefined;
      else fullSince ??= clock.now();
      return fullSince !== undefined && clock.now() - fullSince >= PATIENCE;
    },

    snapshot: (items: readonly FeedItem[]): void => write('snapshot', items),
    change: (items: readonly FeedItem[]): void => write('change', items),
    /** So many messages were left out. */
    gap: (dropped: number): void => write('gap', { topic: 'device', dropped }),
    /** A sign of life; no event. */
    beat(): void {
      if (!ended) body.push(': \n\n');
    },

    /** Ends it: the reader is told why, and the rest of what waits is still sent. */
    end(reason: 'stopping' | 'session' | 'room'): void {
      if (ended) return;
      write('bye', { reason });
      ended = true;
      body.push(null);
    },

    /** Ends it at once. */
    cut(): void {
      ended = true;
      body.destroy();
    },
  };
}
