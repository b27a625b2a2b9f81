import { setTimeout } from 'node:timers/promises';
import { LapelError } from './lapel-error.ts';

export interface Request {
  method: string;
  /** With everything in its place, below the base URL. */
  path: string;
  query?: Readonly<Record<string, string | number | undefined>> | undefined;
  /** Sent as JSON, or as the form that it is. */
  body?: unknown;
  headers?: Record<string, string>;
  /** Sending it twice does no more than sending it once: it is sent again when the connection was lost, too. */
  repeatable: boolean;
  signal?: AbortSignal | undefined;
}

export interface TransportOptions {
  /** How often a request is sent at most, the first time included. */
  attempts?: number;
  /** Milliseconds for one attempt. */
  timeout?: number;
  /** How it waits, milliseconds: for programs with a clock of their own. */
  pause?: (milliseconds: number, signal?: AbortSignal) => Promise<unknown>;
}

// Milliseconds before the second attempt; doubled before each further one. `Retry-After` is obeyed when it is longer.
const FIRST_PAUSE = 200;
const LONGEST_PAUSE = 10_000;
// Seconds. Who is told to come back later than that hears of it at once: a device whose transactions wait for it, say.
const LONGEST_RETRY_AFTER = 10;
// Of these it is known that nothing was done.
const NOT_DONE = new Set([429, 503]);
// The first of two requests with one Idempotency-Key is not answered yet.
const STILL_RUNNING = 'IDEMPOTENCY_KEY_RUNNING';

/** A pause that keeps the process alive. */
export const systemPause = (milliseconds: number, signal?: AbortSignal): Promise<unknown> =>
  setTimeout(milliseconds, undefined, signal ? { signal } : {});

/**
 * Sends one request as JSON over HTTP and answers its JSON (undefined when there is no body), and the query of the next
 * page where there is one (RFC 8288). Sends it again after 429,
 * 503 and, where that does no harm, after a lost connection, 502 and 504. Throws a LapelError for an answer that is not
 * good, and fetch's error when nobody answers.
 */
export function createTransport(
  baseUrl: string,
  { attempts = 4, timeout = 60_000, pause = systemPause }: TransportOptions = {},
) {
  const base = baseUrl.replace(/\/+$/, '');

  async function once(request: Request): Promise<{ status: number; body: unknown; headers: Headers }> {
    const url = new URL(base + request.path);
    for (const [name, value] of Object.entries(request.query ?? {})) {
      if (value !== undefined) url.searchParams.set(name, String(value));
    }
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
    return { status: response.status, body: parse(await response.text()), headers: response.headers };
  }

  return async function send(request: Request): Promise<{ body: unknown; next: URLSearchParams | undefined }> {
    for (let attempt = 1; ; attempt += 1) {
      const last = attempt >= attempts;
      let wait = Math.min(FIRST_PAUSE * 2 ** (attempt - 1), LONGEST_PAUSE);
      try {
        const { status, body, headers } = await once(request);
        // Text that is no JSON is a page of something else at this address.
        if (status >= 200 && status < 300 && typeof body !== 'string') return { body, next: nextPage(headers) };
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

/** Whether the same request may be answered better a little later. */
function mayPass({ repeatable }: Request, { status, code }: LapelError): boolean {
  if (NOT_DONE.has(status)) return true;
  if (!repeatable) return false;
  return status === 502 || status === 504 || (status === 409 && code === STILL_RUNNING);
}

function nextPage(headers: Headers): URLSearchParams | undefined {
  const target = /^<([^>]*)>; ?rel="next"$/.exec(headers.get('link') ?? '')?.[1];
  return target === undefined ? undefined : new URL(target).searchParams;
}

function parse(text: string): unknown {
  if (text === '') return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}
