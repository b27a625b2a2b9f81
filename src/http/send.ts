import { Readable } from 'node:stream';
import type { Context } from 'koa';
import { createTurns } from '../turns.ts';
import { JsonSlices } from './json-slices.ts';
import type { Answer } from './route.ts';

/** Bytes that are given to a connection at a time: whether its client reads shows by the slices that it takes. */
export const SLICE = 64 * 1024;
const JSON_CONTENT = 'application/json; charset=utf-8';

// Slices that are made and written in one turn of the event loop, over all answers.
const SLICES_PER_TURN = 4;

/**
 * Writes answers. What is long goes out slice by slice, a few in each turn of the event loop, and none that its client has
 * no room for: however many clients ask for large answers, a small one waits for no more than that.
 */
export function createSend() {
  const turn = createTurns(SLICES_PER_TURN);

  /** What makes one slice after another; undefined when there are no more. */
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

  function sendBytes(context: Context, body: string | Buffer): boolean {
    if (body.length <= SLICE) {
      context.body = body;
      return false;
    }
    const bytes = typeof body === 'string' ? Buffer.from(body) : body;
    let sent = 0;
    context.body = inTurns(() => {
      const slice = bytes.subarray(sent, sent + SLICE);
      sent += SLICE;
      return slice.length > 0 ? slice : undefined;
    });
    context.length = bytes.length;
    return false;
  }

  function sendSlices(context: Context, body: JsonSlices): boolean {
    context.set('Content-Type', JSON_CONTENT);
    const slices = body.slices();
    let next: IteratorResult<string, string> | undefined = slices.next();
    if (next.done) return sendBytes(context, next.value);
    context.body = inTurns(() => {
      const { value, done } = next ?? slices.next();
      next = done ? END : undefined;
      return value || undefined;
    });
    return true;
  }

  /** True when the handler goes on making the answer while it is sent. */
  return (context: Context, { status, body, headers }: Answer): boolean => {
    context.status = status;
    if (headers) context.set(headers);
    if (body instanceof Readable) {
      context.body = body;
      return true;
    }
    if (body instanceof JsonSlices) return sendSlices(context, body);
    if (typeof body === 'object' && !Buffer.isBuffer(body)) {
      context.set('Content-Type', JSON_CONTENT);
      return sendBytes(context, JSON.stringify(body));
    }
    if (body !== undefined) return sendBytes(context, body);
    if (status !== 204) {
      // Koa takes an unset body for "no answer was made" and would write the status text.
      context.body = '';
      context.remove('Content-Type');
    }
    return false;
  };
}

const END: IteratorResult<string, string> = { done: true, value: '' };
