import { parseExact } from '@lapel/schemas/base/exact-json';
import { heard } from './clock.ts';
import { APPLICATION, OPERATOR } from './operations.ts';
import { ROLE, ROOT } from './place.ts';
import { ended, session } from './session.ts';
import { wordsOf } from './words.ts';

/** The error for an answer that reports one, with the text that the service sent. */
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

type OperatorName = keyof typeof OPERATOR;
type ApplicationName = keyof typeof APPLICATION;
/**
 * The name of an operation. It has two names where operator and application use the same page with different
 * operations.
 */
type Operation = OperatorName | ApplicationName | { operator: OperatorName; application: ApplicationName };

/** The names of the `{parameters}` of a path. */
type NamesIn<Path> = Path extends `${string}{${infer Name}}${infer Rest}` ? Name | NamesIn<Rest> : never;
type OperatorPath<Name> = Name extends OperatorName ? (typeof OPERATOR)[Name]['path'] : never;
type ApplicationPath<Name> = Name extends ApplicationName ? (typeof APPLICATION)[Name]['path'] : never;
type PathOf<Asked> = Asked extends { operator: infer Own; application: infer Other }
  ? OperatorPath<Own> | ApplicationPath<Other>
  : OperatorPath<Asked> | ApplicationPath<Asked>;
/** The parameters of the path of an operation, or of the paths of both operations when there are two names. */
type Parameters<Asked> = Readonly<Record<NamesIn<PathOf<Asked>>, string | number>>;

/** The operations of an application whose path has only the parameter `deviceId`. */
export type DeviceOperation = {
  [Name in ApplicationName]: NamesIn<ApplicationPath<Name>> extends infer Names
    ? [Names, 'deviceId'] extends ['deviceId', Names]
      ? Name
      : never
    : never;
}[ApplicationName];

interface Options {
  /** A list is a parameter that is repeated. */
  query?: Record<string, string | number | boolean | readonly string[] | undefined> | undefined;
  json?: unknown;
  /** A body that is not JSON, with its media type. */
  body?: { type: string; content: BodyInit };
  signal?: AbortSignal | undefined;
  /** A request that is repeated with the same key is carried out once. */
  idempotencyKey?: string;
  /** The tag of the state that the user has seen. The service refuses to change another one (412). */
  ifMatch?: string | undefined;
}

/** The path that all operations of the current role begin with, without a slash at its end. */
const base = (): string =>
  ROLE === 'operator'
    ? `${ROOT}/admin/v1`
    : `${ROOT}/v1/applications/${encodeURIComponent(session.value?.applicationId ?? '')}`;

/**
 * The headers that identify the caller. The operator is identified by a cookie; the header X-Lapel-Console proves that
 * the console itself makes the request.
 */
export const credentials = (): Record<string, string> =>
  ROLE === 'operator' ? { 'X-Lapel-Console': '1' } : { Authorization: `Bearer ${session.value?.accessToken ?? ''}` };

/** An operation for the current role, ready to be sent. */
export interface ServiceRequest {
  readonly method: string;
  /** The path, with its parameters filled in. */
  readonly path: string;
}

/**
 * Makes the request of an operation from its name, or from its name for each role, and the parameters of its path.
 * Throws an Error when the current role has no such operation.
 */
export function operation<const Asked extends Operation>(
  asked: Asked,
  ...[parameters]: [NamesIn<PathOf<Asked>>] extends [never] ? [] : [Parameters<Asked>]
): ServiceRequest {
  const name = typeof asked === 'string' ? asked : asked[ROLE];
  const table: Readonly<Record<string, ServiceRequest>> = ROLE === 'operator' ? OPERATOR : APPLICATION;
  const found = table[name];
  if (!found) throw new Error(`There is no operation ${name} for this role.`);
  const values: Readonly<Record<string, string | number>> = parameters ?? {};
  const path = found.path.replace(/\{(\w+)\}/g, (_, parameter: string) => encodeURIComponent(values[parameter] ?? ''));
  return { method: found.method, path: base() + path };
}

function addressOf(path: string, query: Options['query'] = {}): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    for (const one of typeof value === 'object' ? value : [value])
      if (one !== undefined && one !== '') parameters.append(name, String(one));
  const text = parameters.toString();
  return `${path}${text === '' ? '' : `?${text}`}`;
}

async function bodyOf(response: Response): Promise<unknown> {
  if (!(response.headers.get('content-type') ?? '').includes('json')) return undefined;
  return response.json().catch(() => undefined);
}

/** Returns a successful answer. Throws RequestError for an error; a 401 also ends the session. */
async function checked(response: Response): Promise<Response> {
  if (response.ok) return response;
  if (response.status === 401) ended();
  const code = response.headers.get('lapel-error-code') ?? String(response.status);
  const words = wordsOf(await bodyOf(response)) ?? `The service answered ${response.status}.`;
  throw new RequestError(response.status, code, words, response.headers.get('x-request-id'));
}

/**
 * Sends a request. Throws RequestError, and TypeError when the service cannot be reached. Without a session the path of an
 * application has no applicationId, so nothing is sent: the error is that of a session that has ended.
 */
export async function send(
  { method, path }: ServiceRequest,
  { query, json, body, signal, idempotencyKey, ifMatch }: Options = {},
): Promise<Response> {
  if (ROLE === 'application' && !session.peek())
    throw new RequestError(401, 'TOKEN_MISSING', 'Your session has ended.', null);
  const headers: Record<string, string> = { Accept: 'application/json', ...credentials() };
  if (json !== undefined) headers['Content-Type'] = 'application/json';
  if (body) headers['Content-Type'] = body.type;
  if (idempotencyKey !== undefined) headers['Idempotency-Key'] = idempotencyKey;
  if (ifMatch !== undefined) headers['If-Match'] = ifMatch;
  const content = json === undefined ? body?.content : JSON.stringify(json);
  const response = await fetch(addressOf(path, query), {
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

/** Parses the JSON body of an answer, with the numbers of devices as they were written. */
const parsed = async (response: Response): Promise<unknown> => parseExact(await response.text());

/** Reads the JSON body of an answer. */
export async function read<Body>(request: ServiceRequest, options: Options = {}): Promise<Body> {
  return (await parsed(await send(request, options))) as Body;
}

/** A value with the tag of its state, for a change of what the user has seen. */
export interface Seen<Value> {
  value: Value;
  tag: string | undefined;
}

export async function readSeen<Value>(request: ServiceRequest, options: Options = {}): Promise<Seen<Value>> {
  const response = await send(request, options);
  return { value: (await parsed(response)) as Value, tag: response.headers.get('etag') ?? undefined };
}

export interface Page<Row> {
  rows: Row[];
  /** The cursor of the next page; null on the last page. */
  next: string | null;
}

/** The most requests for one page, and the milliseconds after which the rows that were found are shown. */
const MOST_READS = 25;
const PATIENCE_MS = 1_500;

/**
 * Reads a page of a list. The rows are in the field `member` of the body, and the cursor of the next page is in the Link
 * header. The service examines a bounded number of rows for each answer, which can therefore be short, or empty, although
 * later rows match. So it is asked again until the page is full, or has rows and has taken long.
 */
export async function readPage<Row>(
  request: ServiceRequest,
  member: string,
  options: Options = {},
): Promise<Page<Row>> {
  const limit = Number(options.query?.['limit'] ?? 0);
  const rows: Row[] = [];
  const began = performance.now();
  let after: string | null = null;
  for (let reads = 0; reads < MOST_READS; reads += 1) {
    const query = after === null ? options.query : { ...options.query, limit: limit - rows.length, after };
    const response = await send(request, { ...options, query });
    rows.push(...(((await parsed(response)) as Record<string, Row[]>)[member] ?? []));
    const link = /^<([^>]+)>; ?rel="next"$/.exec(response.headers.get('link') ?? '')?.[1];
    after = link === undefined ? null : new URL(link, location.href).searchParams.get('after');
    if (after === null || rows.length >= limit) break;
    if (rows.length > 0 && performance.now() - began > PATIENCE_MS) break;
  }
  return { rows, next: after };
}
