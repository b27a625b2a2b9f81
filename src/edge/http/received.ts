import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { TextDecoder } from 'node:util';
import { DomainError } from '@lapel/schemas/contracts/errors';
import type { BodyBytes, BodySource } from './body-bytes.ts';

// A body above its limit is read and thrown away to its end, so that the client can read its 413 and the connection
// stays usable. A body of more than this many times the limit is not: its connection is closed.
const DISCARD_FACTOR = 16;

export interface BodyBounds extends BodySource {
  /** The most bytes of the body. */
  limit: number;
  bytes: BodyBytes;
}

const MARK = [0xef, 0xbb, 0xbf];
const SOON = { seconds: 1 };
const invalid = (msg: string): DomainError => DomainError.invalid({ loc: ['body'], msg, type: 'json_invalid' });
export const notUtf8 = (): DomainError => invalid('Body should be UTF-8');
const tooLarge = (limit: number): DomainError => new DomainError('BODY_TOO_LARGE', { values: { limit } });

/** Checks the headers of a body before any of it has arrived. Throws BODY_TOO_LARGE and REQUEST_INVALID. */
export function checkBodyHead({ headers }: IncomingMessage, limit: number): void {
  const encoding = headers['content-encoding'];
  // Content codings are case-insensitive (RFC 9110 8.4.1), but the library that reads the body knows only the
  // lower-case `identity`.
  if (encoding?.toLowerCase() === 'identity') headers['content-encoding'] = 'identity';
  else if (encoding !== undefined) throw invalid(`Content-Encoding '${encoding}' is not supported`);
  if (Number(headers['content-length']) > DISCARD_FACTOR * limit) throw tooLarge(limit);
}

/** The facts about a body that are gathered while it arrives. */
export interface Received {
  /** The number of bytes that have arrived. */
  size(): number;
  /** True when the body is a byte order mark and nothing else, which koa-body reads as an empty object. */
  isMarkAlone(): boolean;
  /** Throws REQUEST_INVALID when a part of the body is not UTF-8. */
  requireUtf8(): void;
  /**
   * Reads the rest of the body and throws it away, until it ends or DISCARD_FACTOR is exceeded. Then throws:
   * BODY_TOO_LARGE, or REQUEST_INVALID when the body ended early.
   */
  discard(): Promise<never>;
  /** Frees the bytes that were counted against the bounds, because the body is no longer in memory. */
  giveBack(): void;
}

/**
 * Counts and checks the bytes of a body while koa-body reads it. The first piece is not counted, because a connection
 * may have that much in memory anyway. Further pieces count against the bounds of their source. When a bound is
 * reached, the request emits RATE_LIMITED or OVERLOADED as its error.
 */
export function watchBody(request: IncomingMessage, { limit, bytes, ...source }: BodyBounds): Received {
  let size = 0;
  let held = 0;
  let marks = 0;
  let isText = true;
  let isRefused = false;
  let first: Buffer | undefined;
  let decoder: TextDecoder | undefined;
  let whenBeyond: (() => void) | undefined;

  /** Counts the bytes of a byte order mark, which may come in several pieces; `before` is the size without this piece. */
  function readMark(chunk: Buffer, before: number): void {
    for (const [i, byte] of chunk.subarray(0, MARK.length - before).entries()) {
      if (marks === before + i && byte === MARK[marks]) marks += 1;
    }
  }

  /** Decodes the pieces of a body as one text, because a character may be split between two pieces. */
  function read(chunk?: Buffer): void {
    try {
      decoder ??= new TextDecoder('utf-8', { fatal: true });
      decoder.decode(chunk, { stream: chunk !== undefined });
    } catch {
      isText = false;
    }
  }

  function take(chunk: Buffer): void {
    const full = isRefused ? undefined : bytes.take(source, chunk.length);
    if (full === undefined) {
      if (!isRefused) held += chunk.length;
      return;
    }
    isRefused = true;
    const refusal = full === 'all' ? new DomainError('OVERLOADED') : new DomainError('RATE_LIMITED', { values: SOON });
    request.emit('error', refusal); // ends the reader, which would otherwise keep the pieces that it has
  }

  request.on('data', (chunk: Buffer) => {
    if (size < MARK.length) readMark(chunk, size);
    size += chunk.length;
    if (size > limit) {
      // Until the rest is thrown away, the reader keeps what comes, because its own bound may be higher.
      if (!whenBeyond) take(chunk);
      else if (size > DISCARD_FACTOR * limit) whenBeyond();
    } else if (size === chunk.length) {
      first = chunk;
    } else {
      if (first) read(first);
      first = undefined;
      read(chunk);
      take(chunk);
    }
  });

  return {
    size: () => size,
    isMarkAlone: () => marks === MARK.length && size === MARK.length,
    requireUtf8() {
      if (decoder) read();
      else if (first && !isUtf8(first)) isText = false;
      if (!isText) throw notUtf8();
    },
    async discard() {
      if (!request.destroyed && (!request.complete || request.readableLength > 0)) {
        await new Promise<void>((resolve) => {
          whenBeyond = resolve;
          request.once('end', resolve).once('close', resolve).resume();
        });
      }
      throw size > limit ? tooLarge(limit) : invalid('The request ended before its body was complete');
    },
    giveBack() {
      bytes.giveBack(source, held);
      held = 0;
    },
  };
}
