import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { TextDecoder } from 'node:util';
import { DomainError } from '../../errors.ts';
import type { BodyBytes, BodySource } from './body-bytes.ts';

// A body above its limit is still read to its end up to so many times the limit and thrown away: the client gets to read
// its 413, and the connection stays usable. Above this the connection is closed.
const PATIENCE = 16;

export interface BodyBounds extends BodySource {
  /** Bytes at most. */
  limit: number;
  bytes: BodyBytes;
}

const SOON = { seconds: 1 };
const invalid = (msg: string): DomainError => DomainError.invalid({ loc: ['body'], msg, type: 'json_invalid' });
const tooLarge = (limit: number): DomainError => new DomainError('BODY_TOO_LARGE', { values: { limit } });

/** What can be said of a body before any of it has come. Throws BODY_TOO_LARGE and REQUEST_INVALID. */
export function checkBodyHead({ headers }: IncomingMessage, limit: number): void {
  const encoding = headers['content-encoding'];
  // Codings are compared without regard to case (RFC 9110 8.4.1); the library that reads the body knows only this one.
  if (encoding?.toLowerCase() === 'identity') headers['content-encoding'] = 'identity';
  else if (encoding !== undefined) throw invalid(`Content-Encoding '${encoding}' is not supported`);
  if (Number(headers['content-length']) > PATIENCE * limit) throw tooLarge(limit);
}

/** What is known of the body of a request by what has come of it. */
export interface Received {
  /** Bytes. */
  size(): number;
  /** It begins with the byte order mark, which readers of text leave out. */
  hasMark(): boolean;
  /** Throws REQUEST_INVALID when it is not all UTF-8. */
  requireUtf8(): void;
  /** Reads on, and keeps nothing, until its end or beyond all patience; then it throws, BODY_TOO_LARGE as a rule. */
  discard(): Promise<never>;
  /** It is in nobody's memory any more. */
  giveBack(): void;
}

/**
 * Watches a body while somebody else reads it. Beyond its first piece, which is no more than a connection may hold anyway,
 * it takes memory of its source: when there is none left it is ended for whoever reads it, with RATE_LIMITED or
 * OVERLOADED.
 */
export function watchBody(request: IncomingMessage, { limit, bytes, ...source }: BodyBounds): Received {
  let size = 0;
  let held = 0;
  let hasMark = false;
  let isText = true;
  let isRefused = false;
  let first: Buffer | undefined;
  let decoder: TextDecoder | undefined;
  let whenBeyond: (() => void) | undefined;

  /** Pieces of a body are one text: a character may be cut by the end of one. */
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
    request.emit('error', refusal); // for the reader: it keeps what it has until it hears of an error
  }

  request.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size > limit) {
      if (size > PATIENCE * limit) whenBeyond?.();
    } else if (size === chunk.length) {
      first = chunk;
      hasMark = chunk[0] === 0xef && chunk[1] === 0xbb && chunk[2] === 0xbf;
    } else {
      if (first) read(first);
      first = undefined;
      read(chunk);
      take(chunk);
    }
  });

  return {
    size: () => size,
    hasMark: () => hasMark,
    requireUtf8() {
      if (decoder) read();
      else if (first && !isUtf8(first)) isText = false;
      if (!isText) throw invalid('Body should be UTF-8');
    },
    async discard() {
      if (!request.destroyed && (!request.complete || request.readableLength > 0)) {
        await new Promise<void>((resolve) => {
          whenBeyond = resolve;
          request.once('end', resolve).once('close', resolve).resume();
        });
      }
      throw size > limit ? tooLarge(limit) : invalid('The request ended before its body');
    },
    giveBack() {
      bytes.giveBack(source, held);
      held = 0;
    },
  };
}
