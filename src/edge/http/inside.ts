import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import Koa from 'koa';
import { loadLate } from '../../runtime/late-load.ts';
import { currentTrace } from '../../runtime/tracing.ts';

/** An assistant that acts for the caller, as it calls itself, and its tool. */
export interface Via {
  assistant: string;
  tool: string;
}

/** The parts of a call of an operation, beside its name. Path parameters are encoded here. */
export interface InsideCall {
  params?: Record<string, string | number>;
  query?: Record<string, string | number | boolean | readonly string[] | undefined>;
  /** The assistant and the tool that ask for a change, for the audit log. */
  via?: Via;
  body?: object;
  headers?: Record<string, string>;
}

export interface InsideAnswer {
  status: number;
  headers: Record<string, string>;
  /** The parsed JSON of the answer; a text when it is none; undefined when it is empty. */
  body: unknown;
}

/** The caller of the request has closed the connection, so nobody waits for an answer. */
export class CallerLeft extends Error {}

/** Calls an operation of the same listener, in the name of the caller of a request. */
export type Inside = (operation: string, call?: InsideCall) => Promise<InsideAnswer>;

interface Parts {
  routes: readonly { name: string; method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'; path: string }[];
  handle(context: Koa.Context): Promise<void>;
  /** Called after each call, because the connection of the request is still in work. */
  works(socket: IncomingMessage['socket']): void;
}

/**
 * Headers of a request that speak of its own body or answer, or of the browser that sent it. All others are those of the
 * caller: the token, the host, what proxies add, the trace.
 */
const OWN: ReadonlySet<string> = new Set(
  `accept accept-encoding accept-language connection content-encoding content-length content-type cookie expect
  idempotency-key if-match if-modified-since if-none-match if-unmodified-since keep-alive mcp-method mcp-name
  mcp-protocol-version mcp-session-id origin prefer range te trailer transfer-encoding upgrade x-request-id`.split(
    /\s+/,
  ),
);

/**
 * Makes the function with which a handler calls other operations of its listener, without a connection. Such a call is a
 * request like any other: it has the token, the address and the certificate of the request that it serves, and passes
 * the same checks, bounds, rates, records and measurements. So there is no second way to the same data.
 */
export function createInside({ routes, handle, works }: Parts) {
  const koa = new Koa(); // makes the contexts, as in sockets.ts
  // Loaded at the first call, because few services have one, and it takes longer than all else of a listener.
  const library = (): typeof import('light-my-request') => loadLate('light-my-request') as never;
  const named = new Map(routes.map((route) => [route.name, route]));

  return (outer: IncomingMessage, requestId: string): Inside =>
    async (operation, call = {}) => {
      const route = named.get(operation);
      if (!route) throw new Error(`the listener has no operation ${operation}`);
      if (outer.socket.destroyed) throw new CallerLeft('the caller has left');
      const url = targetOf(route.path, call);
      const trace = currentTrace();
      const own = { 'x-request-id': requestId, ...(trace !== null && { traceparent: trace }) };
      const headers = { ...passedOn(outer.headers), ...call.headers, ...own };
      const answer = await library().inject(
        (asked, response) => {
          // The target is set here, because `inject` would resolve `.` and `..` in it.
          Object.assign(asked, { url, socket: outer.socket });
          const context = koa.createContext(
            asked as unknown as IncomingMessage,
            response as unknown as ServerResponse<IncomingMessage>,
          );
          context.state['via'] = call.via;
          handle(context).catch((error: unknown) => response.destroy(error as Error));
        },
        { method: route.method, url: '/', headers, ...(call.body && { payload: call.body }) },
      );
      works(outer.socket);
      const given: Record<string, string> = {};
      for (const [name, value] of Object.entries(answer.headers)) given[name] = String(value);
      return { status: answer.statusCode, headers: given, body: parsed(answer.payload, given['content-type']) };
    };
}

function passedOn(headers: IncomingHttpHeaders): Record<string, string | string[]> {
  const given: Record<string, string | string[]> = {};
  for (const [name, value] of Object.entries(headers)) if (value !== undefined && !OWN.has(name)) given[name] = value;
  return given;
}

function targetOf(path: string, { params = {}, query = {} }: InsideCall): string {
  const segments = path.split('/').map((segment) => {
    if (!segment.startsWith('{')) return segment;
    const name = segment.slice(1, -1);
    const value = params[name];
    if (value === undefined) throw new Error(`the path parameter ${name} is missing`);
    return encodeURIComponent(String(value));
  });
  const place = segments.join('/');
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined) continue;
    for (const one of Array.isArray(value) ? value : [value]) search.append(name, String(one));
  }
  const text = search.toString();
  return text === '' ? place : `${place}?${text}`;
}

function parsed(payload: string, type = ''): unknown {
  if (payload === '') return undefined;
  return type.startsWith('application/json') ? JSON.parse(payload) : payload;
}
