import { parseExact } from '@lapel/schemas/base/exact-json';
import { LapelError } from './lapel-error.ts';

/** The parameters of a query; a list is a parameter that is repeated. */
export type Query = Readonly<Record<string, string | number | readonly string[] | undefined>>;

export interface Request {
  method: string;
  /** The path below the base URL, with all parameters filled in. */
  path: string;
  query?: Query | undefined;
  /** Sent as JSON; URLSearchParams are sent as a form. */
  body?: unknown;
  headers?: Record<string, string>;
  /**
   * True when two equal requests have the same effect as one. Such a request is also repeated after a lost connection.
   */
  repeatable: boolean;
  signal?: AbortSignal | undefined;
}

export interface TransportOptions {
  /** The most attempts for a request, including the first one. */
  attempts?: number;
  /** The timeout of one attempt in milliseconds. */
  timeout?: number;
  /** Waits some milliseconds; for programs with a clock of their own. */
  pause?: (milliseconds: number, signal?: AbortSignal) => Promise<unknown>;
  /** Makes the requests; by default the `fetch` of the platform. */
  fetch?: typeof fetch;
  /**
   * True: a number that JavaScript would write in another way than the device did, as 12345678901234567890 or 1.0, is an object
   * of JSON.rawJSON, which JSON.stringify writes as it came. For programs that pass answers on, and do not count with
   * them. Without JSON.rawJSON, in Node 20 and older browsers, it is a number nevertheless.
   */
  exactNumbers?: boolean;
}

// Milliseconds before the second attempt, doubled before each further one. A longer `Retry-After` takes precedence.
const FIRST_PAUSE = 200;
const LONGEST_PAUSE = 10_000;
// Seconds. If `Retry-After` asks for more, the caller gets the error at once, because the wait could be long: until an
// offline device has fetched its full queue, for example.
const LONGEST_RETRY_AFTER = 10;
// Statuses that guarantee that the request was not carried out.
const NOT_DONE = new Set([429, 503]);
// The error code when the first of two requests with the same Idempotency-Key has no answer yet.
const STILL_RUNNING = 'IDEMPOTENCY_KEY_RUNNING';

/** Resolves after the pause, and keeps the process alive until then. */
export function systemPause(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, milliseconds);
    if (signal?.aborted) stop();
    else signal?.addEventListener('abort', stop, { once: true });
  });
}

/**
 * Sends a request and returns the JSON of the answer (undefined without a body), the query of the next page if there is
 * one (RFC 8288), and the entity tag of the answer if it has one (RFC 9110 8.8.3). Repeats the request after 429 and 503; when it is repeatable, also after a lost connection,
 * 502 and 504. Throws a LapelError for an error answer, and the error of fetch when nobody answers.
 */
export function createTransport(
  baseUrl: string,
  {
    attempts = 4,
    timeout = 60_000,
    pause = systemPause,
    fetch = globalThis.fetch,
    exactNumbers = false,
  }: TransportOptions = {},
) {
  const read = exactNumbers ? parseExact : (JSON.parse as (text: string) => unknown);
  const base = baseUrl.replace(/\/+$/, '');

  async function once(request: Request): Promise<{ status: number; body: unknown; headers: Headers }> {
    const url = new URL(base + request.path);
    url.search = searchOf(request.query ?? {});
    const headers = new Headers({ accept: 'application/json', ...request.headers });
    let body: string | URLSearchParams | null = null;
    if (request.body instanceof URLSearchParams) body = request.body;
    else if (request.body !== undefined) {
      headers.set('content-type', 'application/json');
      body = JSON.stringify(request.body);
    }
    const limit = AbortSignal.timeout(timeout);
    const signal = request.signal ? AbortSignal.any([request.signal, limit]) : limit;
    const response = await fetch(url, { method: request.method, headers, body, redirect: 'error', signal });
    return { status: response.status, body: parse(await response.text(), read), headers: response.headers };
  }

  return async function send(
    request: Request,
  ): Promise<{ body: unknown; next: Query | undefined; tag: string | undefined }> {
    for (let attempt = 1; ; attempt += 1) {
      const last = attempt >= attempts;
      let wait = Math.min(FIRST_PAUSE * 2 ** (attempt - 1), LONGEST_PAUSE);
      try {
        const { status, body, headers } = await once(request);
        // An answer that is text instead of JSON comes from another service at this address.
        if (status >= 200 && status < 300 && typeof body !== 'string')
          return { body, next: nextPage(headers), tag: headers.get('etag') ?? undefined };
        const code = headers.get('lapel-error-code');
        const requestId = headers.get('x-request-id');
        const retryAfter = Number.parseInt(headers.get('retry-after') ?? '', 10) || null;
        const answer = { status, body, code, requestId, retryAfter };
        const error = new LapelError(`${request.method} ${request.path}`, answer);
        if (last || !mayPass(request, error) || (retryAfter ?? 0) > LONGEST_RETRY_AFTER) throw error;
        wait = Math.max(wait, 1000 * (retryAfter ?? 0));
      } catch (error) {
        if (error instanceof LapelError || last || !request.repeatable || request.signal?.aborted) throw error;
      }
      await pause(wait, request.signal);
    }
  };
}

/** Whether the same request may succeed a little later. */
function mayPass({ repeatable }: Request, { status, code }: LapelError): boolean {
  if (NOT_DONE.has(status)) return true;
  if (!repeatable) return false;
  return status === 502 || status === 504 || (status === 409 && code === STILL_RUNNING);
}

/** Writes a query as the part of an address after the question mark. */
export function searchOf(query: Query): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined) continue;
    for (const one of typeof value === 'object' ? value : [value]) parameters.append(name, String(one));
  }
  return parameters.toString();
}

/** The query of the next page, with each parameter as a list, because it may be repeated. */
function nextPage(headers: Headers): Query | undefined {
  const target = /^<([^>]*)>; ?rel="next"$/.exec(headers.get('link') ?? '')?.[1];
  if (target === undefined) return undefined;
  const parameters = new URL(target).searchParams;
  return Object.fromEntries([...parameters.keys()].map((name) => [name, parameters.getAll(name)]));
}

function parse(text: string, read: (text: string) => unknown): unknown {
  if (text === '') return undefined;
  try {
    return read(text);
  } catch {
    return text;
  }
}
