import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { DomainError } from '../errors.ts';

/** Bytes (contract, section 1). */
export const BODY_LIMIT = 1024 * 1024;
// A body above the limit is still read to its end up to here and thrown away: the client gets to read its 413, and the
// connection stays usable. Above this the connection is closed.
const PATIENCE = 16 * BODY_LIMIT;

const tooLarge = (): DomainError => new DomainError('BODY_TOO_LARGE', { values: { limit: BODY_LIMIT } });
const invalid = (msg: string): DomainError => DomainError.invalid({ loc: ['body'], msg, type: 'json_invalid' });

/**
 * The whole body as text. Throws BODY_TOO_LARGE, or REQUEST_INVALID for one that is compressed, not UTF-8, or broken off.
 *
 * Not koa-body: it knows a body that is missing, malformed or too large only by the messages of its parsers, answers a
 * body above the limit by closing the connection in the middle of it, and costs 15 us of CPU a request more than this
 * (of about 60 in all).
 */
function readText(request: IncomingMessage): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const encoding = request.headers['content-encoding'];
  if (encoding !== undefined && encoding !== 'identity') {
    reject(invalid(`Content-Encoding '${encoding}' is not supported`));
    return promise;
  }
  if (Number(request.headers['content-length']) > PATIENCE) {
    reject(tooLarge());
    return promise;
  }
  let size = 0;
  let first: Buffer | undefined;
  let others: Buffer[] | undefined;
  request.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size > BODY_LIMIT) {
      first = undefined;
      others = undefined;
      if (size > PATIENCE) reject(tooLarge());
    } else if (first === undefined) {
      first = chunk;
    } else {
      others ??= [first];
      others.push(chunk);
    }
  });
  request.once('end', () => {
    if (size > BODY_LIMIT) return reject(tooLarge());
    const bytes = others ? Buffer.concat(others) : first;
    if (bytes === undefined) return resolve('');
    return isUtf8(bytes) ? resolve(bytes.toString('utf8')) : reject(invalid('Body should be UTF-8'));
  });
  // Every request closes; an error costs as much as a small request, so it is made only for those that broke off.
  request.once('close', () => {
    if (!request.complete) reject(invalid('The request ended before its body'));
  });
  return promise;
}

/** True after BODY_TOO_LARGE when the rest of the body is still on its way: only closing the connection ends it. */
export const isUnread = (request: IncomingMessage): boolean => !request.complete;

const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i;
const FORM_TYPE = /^application\/x-www-form-urlencoded\s*(?:;|$)/i;

// The message has the text around the fault in it.
const shown = (message: string): string => message.replaceAll('\0', '\ufffd').toWellFormed();

/** The parsed JSON body; undefined when there is none. A body without a `Content-Type` is taken for JSON. */
export async function readJson(request: IncomingMessage): Promise<unknown> {
  const text = await readText(request);
  if (text === '') return undefined;
  const type = request.headers['content-type'];
  if (type !== undefined && !JSON_TYPE.test(type)) throw invalid(`Content-Type should be 'application/json'`);
  try {
    return JSON.parse(text);
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
export async function readForm(request: IncomingMessage): Promise<URLSearchParams | undefined> {
  try {
    const text = await readText(request);
    return FORM_TYPE.test(request.headers['content-type'] ?? '') ? new URLSearchParams(text) : undefined;
  } catch (error) {
    if (error instanceof DomainError && error.code === 'REQUEST_INVALID') return undefined;
    throw error;
  }
}
