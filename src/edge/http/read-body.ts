import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { DomainError } from '@lapel/schemas/contracts/errors';
import type { Context } from 'koa';
import type { koaBody } from 'koa-body';
import { loadLate } from '../../runtime/late-load.ts';
import { parseJson, SMALL } from './parse-json.ts';
import { type BodyBounds, checkBodyHead, notUtf8, type Received, watchBody } from './received.ts';

/** The most bytes of a JSON body (contract, section 1). */
export const BODY_LIMIT = 1024 * 1024;
/** The most bytes of a form. The only form, of the token endpoint, has only grant_type and scope. */
export const FORM_LIMIT = 8 * 1024;

const invalid = (msg: string, cause?: unknown): DomainError =>
  new DomainError('REQUEST_INVALID', { details: [{ loc: ['body'], msg, type: 'json_invalid' }], cause });

/**
 * `readWhole` parses a small JSON body that has arrived as it is, which saves the work of a reader of streams.
 * koa-body reads every other body and parses small JSON. Our own code does the parts that koa-body does
 * differently or not at all:
 * - Checks: `received.ts` refuses compressed bodies, counts the bytes against the bounds of their sender, checks UTF-8
 *   (koa-body replaces invalid bytes), and reads a body that is too large to its end (koa-body stops in the middle).
 * - Media types: koa-body knows fewer JSON types than this API accepts, and does not read a body without a type.
 * - JSON that is large, or comes without a length: `parse-json.ts` parses such texts one at a time.
 * - Forms: koa-body makes a list of a repeated parameter, and objects of names with brackets. Both are errors here (RFC
 *   6749 3.2), so `URLSearchParams` parses forms.
 * - `__proto__`: koa-body rejects a text with this name as invalid JSON; here it is an unknown field.
 */
function loadReaders() {
  const { HttpMethodEnum, koaBody } = loadLate('koa-body') as typeof import('koa-body');
  const options = {
    urlencoded: false,
    multipart: false,
    encoding: 'utf-8',
    parsedMethods: Object.values(HttpMethodEnum),
  };
  return {
    parsed: koaBody({ ...options, text: false, jsonStrict: false, jsonLimit: SMALL, includeUnparsed: true }),
    jsonText: koaBody({ ...options, json: false, textLimit: BODY_LIMIT }),
    formText: koaBody({ ...options, json: false, textLimit: FORM_LIMIT }),
  };
}

/** Loading koa-body takes a sixth of the time of a start, so it is loaded when the first body needs it. */
let loaded: ReturnType<typeof loadReaders> | undefined;

/** The three instances of koa-body. Throws OVERLOADED when the process cannot open the files of koa-body. */
function readers(): ReturnType<typeof loadReaders> {
  try {
    loaded ??= loadReaders();
    return loaded;
  } catch (cause) {
    throw new DomainError('OVERLOADED', { cause });
  }
}

const NOTHING_MORE = (): Promise<void> => Promise.resolve();

interface Read {
  /** The parsed JSON value, or the text of the body; undefined when koa-body could not parse it. */
  body?: unknown;
  /** The text of the body, given when `body` is undefined. */
  rawBody?: string;
}

/** Runs koa-body on the body of a request whose media type is known. */
async function run(reader: ReturnType<typeof koaBody>, request: IncomingMessage): Promise<Read> {
  const context = { req: request, request: {} as Read, method: 'POST', is: () => true };
  await reader(context as unknown as Context, NOTHING_MORE);
  return context.request;
}

/** Turns an error of koa-body into a DomainError where the client has caused it. */
async function explain(error: unknown, request: IncomingMessage, received: Received): Promise<never> {
  if (error instanceof DomainError) throw error;
  if ((error as { type?: string }).type === 'entity.too.large') return received.discard();
  if (!request.complete) throw invalid('The request ended before its body was complete', error);
  throw error;
}

/** Reads a body with one of the three instances of koa-body; undefined when the request has no body. */
async function readBy(
  name: 'parsed' | 'jsonText' | 'formText',
  request: IncomingMessage,
  bounds: BodyBounds,
): Promise<Read | undefined> {
  checkBodyHead(request, bounds.limit);
  const { [name]: reader } = readers();
  const received = watchBody(request, bounds);
  try {
    if (Number(request.headers['content-length']) > bounds.limit) await received.discard();
    const read = await run(reader, request).catch((error: unknown) => {
      if (error instanceof SyntaxError) return unread(error, received);
      return explain(error, request, received);
    });
    if (received.size() > bounds.limit) await received.discard();
    if (received.size() === 0) return undefined;
    received.requireUtf8();
    return received.isMarkAlone() ? { rawBody: '' } : read;
  } finally {
    received.giveBack();
  }
}

/** The text of a body that koa-body could not parse as JSON. */
function unread(error: SyntaxError & { body?: unknown }, received: Received): Read {
  received.requireUtf8();
  if (typeof error.body !== 'string') throw error;
  return { rawBody: error.body };
}

/** The text of a body without its byte order mark, which a reader may ignore (RFC 8259 8.1). */
const withoutMark = (text: string): string => (text.startsWith('\ufeff') ? text.slice(1) : text);

const textOf = ({ body, rawBody = String(body) }: Read): string => withoutMark(rawBody);

// The message of a JSON parser quotes the text around the fault. It may contain NUL and lone surrogates, which other
// JSON parsers refuse, so these are replaced.
const shown = (message: string): string => message.replaceAll('\0', '\ufffd').toWellFormed();

const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i;
const FORM_TYPE = /^application\/x-www-form-urlencoded\s*(?:;|$)/i;

const notJson = (cause: unknown): DomainError =>
  invalid(`JSON decode error: ${shown((cause as SyntaxError).message)}`, cause);

const isJson = (type: string | undefined): boolean => type === undefined || JSON_TYPE.test(type);

/**
 * Reads a small JSON body that has arrived as a whole; undefined when `readJson` has to read it. Node sets `complete`
 * only after it has told of the last piece, and the work that this piece wakes up runs in between, so the length decides.
 * Throws REQUEST_INVALID as readJson does.
 */
export function readWhole(request: IncomingMessage, { limit }: Pick<BodyBounds, 'limit'>): unknown {
  const { readableLength: length, headers } = request;
  if (length === 0 || length > Math.min(SMALL, limit) || length !== Number(headers['content-length'])) return undefined;
  if (!isJson(headers['content-type'])) return undefined;
  checkBodyHead(request, limit);
  const bytes = request.read() as Buffer;
  if (!isUtf8(bytes)) throw notUtf8();
  try {
    return JSON.parse(withoutMark(bytes.toString()));
  } catch (cause) {
    throw notJson(cause);
  }
}

/**
 * Reads a JSON body; undefined when there is none. A body without a `Content-Type` is taken as JSON. Throws
 * BODY_TOO_LARGE; REQUEST_INVALID for a body that is compressed, not UTF-8, not JSON, or incomplete; RATE_LIMITED or
 * OVERLOADED when too many bytes of bodies are being received.
 */
export async function readJson(request: IncomingMessage, bounds: BodyBounds): Promise<unknown> {
  const { headers } = request;
  const isOfType = isJson(headers['content-type']);
  const isSmall = Number(headers['content-length']) <= SMALL;
  const read = await readBy(isOfType && isSmall ? 'parsed' : 'jsonText', request, bounds);
  if (read === undefined) return undefined;
  if (!isOfType) throw invalid(`Content-Type should be 'application/json'`);
  if (isSmall && read.body !== undefined) return read.body;
  try {
    return await parseJson(textOf(read));
  } catch (cause) {
    throw notJson(cause);
  }
}

/**
 * Reads and parses a form; undefined when the body is not a form in UTF-8. The one route with a form decides how to
 * answer that (RFC 6749 5.2). Throws as readJson does.
 */
export async function readForm(request: IncomingMessage, bounds: BodyBounds): Promise<URLSearchParams | undefined> {
  try {
    const read = await readBy('formText', request, bounds);
    if (!FORM_TYPE.test(request.headers['content-type'] ?? '')) return undefined;
    return new URLSearchParams(read === undefined ? '' : textOf(read));
  } catch (error) {
    if (error instanceof DomainError && error.code === 'REQUEST_INVALID') return undefined;
    throw error;
  }
}

/**
 * True when, after an error, the rest of the body is still arriving, so that only closing the connection ends it. A body
 * whose bytes are all here is thrown away by Node, though its request may not be complete yet.
 */
export const isUnread = ({ complete, readableLength, headers }: IncomingMessage): boolean =>
  !complete && readableLength !== Number(headers['content-length']);
