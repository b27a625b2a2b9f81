import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { DomainError } from '../errors.ts';
import type { BodyBytes } from './body-bytes.ts';
import { parseJson } from './parse-json.ts';

/** Bytes (contract, section 1). */
export const BODY_LIMIT = 1024 * 1024;
/** Bytes of a form: grant_type, scope, and room to spare. */
export const FORM_LIMIT = 8 * 1024;
// A body above its limit is still read to its end up to so many times the limit and thrown away: the client gets to read
// its 413, and the connection stays usable. Above this the connection is closed.
const PATIENCE = 16;

interface BodyBounds {
  /** Bytes at most. */
  limit: number;
  /** Whose memory it is: an application, an address. */
  source: string;
  bytes: BodyBytes;
}

const invalid = (msg: string): DomainError => DomainError.invalid({ loc: ['body'], msg, type: 'json_invalid' });

/**
 * The whole body as text. Throws BODY_TOO_LARGE, REQUEST_INVALID for one that is compressed, not UTF-8, or broken off, and
 * RATE_LIMITED or OVERLOADED when too much of others is being read.
 *
 * Not koa-body: it knows a body that is missing, malformed or too large only by the messages of its parsers, answers a
 * body above the limit by closing the connection in the middle of it, and costs 15 us of CPU a request more than this
 * (of about 60 in all).
 */
function readText(request: IncomingMessage, { limit, source, bytes }: BodyBounds): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const tooLarge = (): DomainError => new DomainError('BODY_TOO_LARGE', { values: { limit } });
  const encoding = request.headers['content-encoding'];
  if (encoding !== undefined && encoding !== 'identity') {
    reject(invalid(`Content-Encoding '${encoding}' is not supported`));
    return promise;
  }
  if (Number(request.headers['content-length']) > PATIENCE * limit) {
    reject(tooLarge());
    return promise;
  }
  let size = 0;
  let first: Buffer | undefined;
  let others: Buffer[] | undefined;
  let held = 0;
  const drop = (): void => {
    first = undefined;
    others = undefined;
    bytes.giveBack(source, held);
    held = 0;
  };
  request.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size > limit) {
      drop();
      if (size > PATIENCE * limit) reject(tooLarge());
    } else if (first === undefined) {
      first = chunk; // one chunk is no more than the connection may hold anyway
    } else {
      const full = bytes.take(source, chunk.length);
      if (full !== undefined) {
        size = Number.POSITIVE_INFINITY;
        drop();
        reject(full === 'all' ? new DomainError('OVERLOADED') : new DomainError('RATE_LIMITED', { values: SOON }));
        return;
      }
      held += chunk.length;
      others ??= [first];
      others.push(chunk);
    }
  });
  request.once('end', () => {
    if (size > limit) return reject(tooLarge());
    const body = others ? Buffer.concat(others) : first;
    if (body === undefined) return resolve('');
    return isUtf8(body) ? resolve(body.toString('utf8')) : reject(invalid('Body should be UTF-8'));
  });
  // Every request closes; an error costs as much as a small request, so it is made only for those that broke off.
  request.once('close', () => {
    drop();
    if (!request.complete) reject(invalid('The request ended before its body'));
  });
  return promise;
}

const SOON = { seconds: 1 };

/** True after an error when the rest of the body is still on its way: only closing the connection ends it. */
export const isUnread = (request: IncomingMessage): boolean => !request.complete;

const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i;
const FORM_TYPE = /^application\/x-www-form-urlencoded\s*(?:;|$)/i;

// The message has the text around the fault in it.
const shown = (message: string): string => message.replaceAll('\0', '\ufffd').toWellFormed();

/** The parsed JSON body; undefined when there is none. A body without a `Content-Type` is taken for JSON. */
export async function readJson(request: IncomingMessage, bounds: BodyBounds): Promise<unknown> {
  const text = await readText(request, bounds);
  if (text === '') return undefined;
  const type = request.headers['content-type'];
  if (type !== undefined && !JSON_TYPE.test(type)) throw invalid(`Content-Type should be 'application/json'`);
  try {
    return await parseJson(text);
  } catch (cause) {
    throw new DomainError('REQUEST_INVALID', {
      details: [
        { loc: ['body'], msg: `JSON decode error: ${shown((cause as SyntaxError).message)}`, type: 'json_invalid' },
      ],
      cause,
    });
  }
}

/**
 * The parsed form; undefined when the body is no form in UTF-8: what that is answered with is a matter of the one route
 * that has a form (RFC 6749 5.2). Throws BODY_TOO_LARGE.
 */
export async function readForm(request: IncomingMessage, bounds: BodyBounds): Promise<URLSearchParams | undefined> {
  try {
    const text = await readText(request, bounds);
    return FORM_TYPE.test(request.headers['content-type'] ?? '') ? new URLSearchParams(text) : undefined;
  } catch (error) {
    if (error instanceof DomainError && error.code === 'REQUEST_INVALID') return undefined;
    throw error;
  }
}
