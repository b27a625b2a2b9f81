import { heard } from './clock.ts';
import { ROLE, ROOT } from './place.ts';
import { ended, session } from './session.ts';
import { wordsOf } from './words.ts';

/** An error answer, with the text of the service. */
export class RequestError extends Error {
  readonly status: number;
  /** The documented code of the error. */
  readonly code: string;
  readonly requestId: string | null;

  constructor(status: number, code: string, message: string, requestId: string | null) {
    super(message);
    this.status = status;
    this.code = code;
    this.requestId = requestId;
  }
}

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

interface Options {
  query?: Record<string, string | number | boolean | undefined>;
  json?: unknown;
  /** A body that is not JSON, with its media type. */
  body?: { type: string; content: BodyInit };
  signal?: AbortSignal | undefined;
}

/** The base path of the interface for the current role, without a slash at its end. */
export const base = (): string =>
  ROLE === 'operator'
    ? `${ROOT}/admin/v1`
    : `${ROOT}/v1/applications/${encodeURIComponent(session.value?.applicationId ?? '')}`;

/**
 * The headers that identify the caller. The operator is identified by a cookie; the header tells that the console
 * itself makes the request.
 */
export const credentials = (): Record<string, string> =>
  ROLE === 'operator' ? { 'X-Lapel-Console': '1' } : { Authorization: `Bearer ${session.value?.accessToken ?? ''}` };

function addressOf(path: string, query: Options['query'] = {}): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    if (value !== undefined && value !== '') parameters.set(name, String(value));
  const text = parameters.toString();
  return `${path}${text === '' ? '' : `?${text}`}`;
}

async function bodyOf(response: Response): Promise<unknown> {
  if (!(response.headers.get('content-type') ?? '').includes('json')) return undefined;
  return response.json().catch(() => undefined);
}

/** Throws RequestError for an error answer; a 401 also ends the session. */
async function checked(response: Response): Promise<Response> {
  if (response.ok) return response;
  if (response.status === 401) ended();
  const code = response.headers.get('lapel-error-code') ?? String(response.status);
  const words = wordsOf(await bodyOf(response)) ?? `The service answered ${response.status}.`;
  throw new RequestError(response.status, code, words, response.headers.get('x-request-id'));
}

/**
 * Sends a request to the service; `path` is relative to `base()`. Throws RequestError, and TypeError when the service
 * cannot be reached.
 */
export async function send(
  method: Method,
  path: string,
  { query, json, body, signal }: Options = {},
): Promise<Response> {
  const headers: Record<string, string> = { Accept: 'application/json', ...credentials() };
  if (json !== undefined) headers['Content-Type'] = 'application/json';
  if (body) headers['Content-Type'] = body.type;
  const content = json === undefined ? body?.content : JSON.stringify(json);
  const response = await fetch(addressOf(base() + path, query), {
    method,
    headers,
    credentials: 'same-origin',
    cache: 'no-store',
    ...(content !== undefined && { body: content }),
    ...(signal && { signal }),
  });
  heard(response.headers.get('date'));
  return checked(response);
}

/** Reads the JSON body of an answer. */
export async function read<Body>(path: string, options: Options = {}): Promise<Body> {
  return (await (await send('GET', path, options)).json()) as Body;
}

export interface Page<Row> {
  rows: Row[];
  /** The cursor for the next page; null on the last one. */
  next: string | null;
}

/** Reads a page of a list. The rows are in `member` of the body, the next page is in the Link header. */
export async function readPage<Row>(path: string, member: string, options: Options = {}): Promise<Page<Row>> {
  const response = await send('GET', path, options);
  const rows = ((await response.json()) as Record<string, Row[]>)[member] ?? [];
  const link = /^<([^>]+)>; ?rel="next"$/.exec(response.headers.get('link') ?? '')?.[1];
  const parameters = link === undefined ? undefined : new URL(link, location.href).searchParams;
  return { rows, next: parameters?.get('after') ?? null };
}

/** Encodes segments of a path. */
export const at = (...segments: (string | number)[]): string =>
  segments.map((segment) => `/${encodeURIComponent(segment)}`).join('');
