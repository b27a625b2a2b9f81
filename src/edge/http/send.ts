import { pipeline, Readable } from 'node:stream';
import type { Context } from 'koa';
import type { Log } from '../../runtime/log.ts';
import { createTurns } from '../../runtime/turns.ts';
import { JsonSlices } from './json-slices.ts';
import type { Answer } from './route.ts';

/**
 * Bytes that are written to a connection at a time. As its client takes one slice after another, the service sees that
 * the client reads.
 */
export const SLICE = 64 * 1024;
const JSON_CONTENT = 'application/json; charset=utf-8';

// The most slices, of all answers together, that are made and written in one turn of the event loop.
const SLICES_PER_TURN = 4;

/**
 * Makes the function that sends answers. A long answer is sent slice by slice: a few slices in each turn of the event
 * loop, and only while its client reads. So a small answer waits for a few slices at most, however many clients ask for
 * long ones.
 */
export function createSend({ log }: { log: Log }) {
  const turn = createTurns(SLICES_PER_TURN);

  /** A stream of slices; `makeSlice` returns undefined at the end. */
  const inTurns = (makeSlice: () => string | Buffer | undefined): Readable =>
    new Readable({
      highWaterMark: SLICE,
      read() {
        void turn().then(() => {
          if (this.destroyed) return;
          try {
            this.push(makeSlice() ?? null);
          } catch (error) {
            this.destroy(error as Error);
          }
        });
      },
    });

  function sendBytes(context: Context, status: number, headers: Headers, body: string | Buffer): void {
    if (body.length <= SLICE) {
      sendWhole(context, status, headers, body);
      return;
    }
    const bytes = typeof body === 'string' ? Buffer.from(body) : body;
    headers['Content-Length'] = String(bytes.length);
    let sent = 0;
    const slices = inTurns(() => {
      const slice = bytes.subarray(sent, sent + SLICE);
      sent += SLICE;
      return slice.length > 0 ? slice : undefined;
    });
    sendStream(context, status, headers, slices);
  }

  /** Sends what a stream delivers. When the client disconnects, the stream is destroyed. */
  function sendStream({ res, method }: Context, status: number, headers: Headers, stream: Readable): void {
    if (res.destroyed || method === 'HEAD') stream.destroy();
    if (res.destroyed) return;
    res.writeHead(status, headers);
    if (method === 'HEAD') {
      res.end();
      return;
    }
    pipeline(stream, res, (error) => {
      if (error) log.debug({ err: error }, 'an answer could not be sent'); // nearly always the client has disconnected
    });
  }

  /** Sends the slices of an object. Returns true when there is more than one. */
  function sendSlices(context: Context, status: number, headers: Headers, body: JsonSlices): boolean {
    headers['Content-Type'] = JSON_CONTENT;
    const slices = body.slices();
    let next: IteratorResult<string, string> | undefined = slices.next();
    if (next.done) {
      sendBytes(context, status, headers, next.value);
      return false;
    }
    const inSlices = inTurns(() => {
      const { value, done } = next ?? slices.next();
      next = done ? END : undefined;
      return value || undefined;
    });
    sendStream(context, status, headers, inSlices);
    return true;
  }

  /**
   * Sends an answer with additional headers. Returns true when the handler makes more of the answer while it is sent.
   */
  return (context: Context, { status, body, headers }: Answer, others: Headers): boolean => {
    const all = headers ? { ...others, ...headers } : others;
    if (body instanceof Readable) {
      sendStream(context, status, all, body);
      return true;
    }
    if (body instanceof JsonSlices) return sendSlices(context, status, all, body);
    if (body === undefined) {
      sendWhole(context, status, all, undefined);
    } else if (typeof body === 'string' || Buffer.isBuffer(body)) {
      sendBytes(context, status, all, body);
    } else {
      all['Content-Type'] = JSON_CONTENT;
      sendBytes(context, status, all, JSON.stringify(body));
    }
    return false;
  };
}

type Headers = Record<string, string | string[]>;

/** Sends a complete answer in one write, head and body. */
function sendWhole(context: Context, status: number, headers: Headers, body: string | Buffer | undefined): void {
  const { res } = context;
  if (res.destroyed) return;
  if (!BODILESS.has(status)) headers['Content-Length'] = String(body === undefined ? 0 : Buffer.byteLength(body));
  res.writeHead(status, headers);
  if (context.method === 'HEAD') res.end();
  else res.end(body);
}

/** Statuses whose answers have no body and no length (RFC 9110 8.6). */
const BODILESS: ReadonlySet<number> = new Set([204, 304]);

const END: IteratorResult<string, string> = { done: true, value: '' };
