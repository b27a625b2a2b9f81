import type { IncomingMessage } from 'node:http';
import type { Context } from 'koa';
import { HttpMethodEnum, koaBody } from 'koa-body';
import { DomainError } from '../../errors.ts';
import { parseJson, SMALL } from './parse-json.ts';
import { type BodyBounds, checkBodyHead, type Received, watchBody } from './received.ts';

/** Bytes (contract, section 1). */
export const BODY_LIMIT = 1024 * 1024;
/** Bytes of a form: grant_type, scope, and room to spare. */
export const FORM_LIMIT = 8 * 1024;

const invalid = (msg: string, cause?: unknown): DomainError =>
  new DomainError('REQUEST_INVALID', { details: [{ loc: ['body'], msg, type: 'json_invalid' }], cause });

/**
 * koa-body reads every body, and parses JSON. What it is not left to do, because it does not do it, or not so:
 * - What there is before the body, and beside it: `received.ts` refuses an encoding, holds its bytes to the bounds of its
 *   source, knows whether it is UTF-8 (koa-body puts a replacement for what is not) and lets one that is too large come to
 *   its end (koa-body stops in the middle of it).
 * - What a body is: it knows fewer media types than this API takes, and none of a body without one.
 * - Large JSON, or of a length that is not said: that is parsed one text at a time, by `parse-json.ts`.
 * - Forms: of a parameter that comes twice it makes a list, and names with brackets are objects; here both are wrong
 *   (RFC 6749 3.2), so they are parsed by the platform.
 * - `__proto__`: it refuses a text that has it as a name for no JSON; here it is a field that nobody knows.
 */
const options = {
  urlencoded: false,
  multipart: false,
  encoding: 'utf-8',
  parsedMethods: Object.values(HttpMethodEnum),
};
const parsed = koaBody({ ...options, text: false, jsonStrict: false, jsonLimit: SMALL, includeUnparsed: true });
const jsonText = koaBody({ ...options, json: false, textLimit: BODY_LIMIT });
const formText = koaBody({ ...options, json: false, textLimit: FORM_LIMIT });

const NOTHING_MORE = (): Promise<void> => Promise.resolve();

interface Read {
  /** The JSON value, or the text; undefined when it is no JSON. */
  body?: unknown;
  /** The text, where `body` is not. */
  rawBody?: string;
}

/** Runs koa-body on the body of a request whose media type is known. */
async function run(reader: ReturnType<typeof koaBody>, request: IncomingMessage): Promise<Read> {
  const context = { req: request, request: {} as Read, method: 'POST', is: () => true };
  await reader(context as unknown as Context, NOTHING_MORE);
  return context.request;
}

/** What koa-body throws, in the words of the interface. */
async function explain(error: unknown, request: IncomingMessage, received: Received): Promise<never> {
  if (error instanceof DomainError) throw error;
  if ((error as { type?: string }).type === 'entity.too.large') return received.discard();
  if (!request.complete) throw invalid('The request ended before its body', error);
  throw error;
}

/** Reads a body by one of the readers; undefined when there is none. */
async function readBy(
  reader: ReturnType<typeof koaBody>,
  request: IncomingMessage,
  bounds: BodyBounds,
): Promise<(Read & { hasMark: boolean }) | undefined> {
  checkBodyHead(request, bounds.limit);
  const received = watchBody(request, bounds);
  try {
    const read = await run(reader, request).catch((error: unknown) => {
      if (error instanceof SyntaxError) return unread(error, received);
      return explain(error, request, received);
    });
    if (received.size() === 0) return undefined;
    received.requireUtf8();
    return { ...read, hasMark: received.hasMark() };
  } finally {
    received.giveBack();
  }
}

/** Of a text that koa-body takes for no JSON. */
function unread(error: SyntaxError & { body?: unknown }, received: Received): Read {
  received.requireUtf8();
  if (typeof error.body !== 'string') throw error;
  return { rawBody: error.body };
}

const textOf = ({ body, rawBody = String(body), hasMark }: Read & { hasMark: boolean }): string =>
  hasMark ? `\ufeff${rawBody}` : rawBody;

// The message has the text around the fault in it.
const shown = (message: string): string => message.replaceAll('\0', '\ufffd').toWellFormed();

const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i;
const FORM_TYPE = /^application\/x-www-form-urlencoded\s*(?:;|$)/i;

/**
 * The JSON body; undefined when there is none. A body without a `Content-Type` is taken for JSON. Throws BODY_TOO_LARGE,
 * REQUEST_INVALID for one that is compressed, not UTF-8, no JSON, or broken off, and RATE_LIMITED or OVERLOADED when too
 * much of others is being read.
 */
export async function readJson(request: IncomingMessage, bounds: BodyBounds): Promise<unknown> {
  const type = request.headers['content-type'];
  const isJson = type === undefined || JSON_TYPE.test(type);
  const isSmall = Number(request.headers['content-length']) <= SMALL;
  const read = await readBy(isJson && isSmall ? parsed : jsonText, request, bounds);
  if (read === undefined) return undefined;
  if (!isJson) throw invalid(`Content-Type should be 'application/json'`);
  if (isSmall && read.body !== undefined && !read.hasMark) return read.body;
  try {
    return await parseJson(textOf(read));
  } catch (cause) {
    throw invalid(`JSON decode error: ${shown((cause as SyntaxError).message)}`, cause);
  }
}

/**
 * The parsed form; undefined when the body is no form in UTF-8: what that is answered with is a matter of the one route
 * that has a form (RFC 6749 5.2). Throws as readJson does.
 */
export async function readForm(request: IncomingMessage, bounds: BodyBounds): Promise<URLSearchParams | undefined> {
  try {
    const read = await readBy(formText, request, bounds);
    if (!FORM_TYPE.test(request.headers['content-type'] ?? '')) return undefined;
    return new URLSearchParams(read === undefined ? '' : textOf(read));
  } catch (error) {
    if (error instanceof DomainError && error.code === 'REQUEST_INVALID') return undefined;
    throw error;
  }
}

/** True after an error when the rest of the body is still on its way: only closing the connection ends it. */
export const isUnread = (request: IncomingMessage): boolean => !request.complete;
