import { Readable } from 'node:stream';
import type { Context } from 'koa';
import { JsonSlices } from './json-slices.ts';
import type { Answer } from './route.ts';

/** Bytes that are given to a connection at a time: whether its client reads shows by the slices that it takes. */
export const SLICE = 64 * 1024;
const JSON_CONTENT = 'application/json; charset=utf-8';

/** Writes an answer. True when the handler goes on making it while it is sent. */
export function send(context: Context, { status, body, headers }: Answer): boolean {
  context.status = status;
  if (headers) context.set(headers);
  if (body instanceof Readable) {
    context.body = body;
    return true;
  }
  if (body instanceof JsonSlices) {
    context.set('Content-Type', JSON_CONTENT);
    const slices = body.slices();
    const first = slices.next();
    if (first.done) return sendBytes(context, first.value);
    context.body = pulled(first.value, slices);
    return true;
  }
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
}

function sendBytes(context: Context, body: string | Buffer): boolean {
  if (body.length <= SLICE) {
    context.body = body;
    return false;
  }
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  let sent = 0;
  context.body = new Readable({
    highWaterMark: SLICE,
    read() {
      this.push(sent < bytes.length ? bytes.subarray(sent, sent + SLICE) : null);
      sent += SLICE;
    },
  });
  context.length = bytes.length;
  return false;
}

/** A slice per turn of the event loop, and none that the client has no room for. */
function pulled(first: string, slices: Iterator<string, string>): Readable {
  let next: string | undefined = first;
  return new Readable({
    highWaterMark: SLICE,
    read() {
      if (next !== undefined) {
        this.push(next);
        next = undefined;
        return;
      }
      setImmediate(() => {
        if (this.destroyed) return;
        try {
          const { done, value } = slices.next();
          this.push(value);
          if (done) this.push(null);
        } catch (error) {
          this.destroy(error as Error);
        }
      });
    },
  });
}
