import { Readable } from 'node:stream';
import type { Context } from 'koa';
import type { Clock } from '../clock.ts';
import type { Contracts } from '../contracts/contracts.ts';
import { DomainError, toDomainError } from '../errors.ts';
import type { Ids } from '../ids.ts';
import type { Log } from '../log.ts';
import type { Metrics } from '../metrics.ts';
import { errorAnswer } from './error-answer.ts';
import { checkPathParameters } from './path-parameters.ts';
import type { RateLimitVerdict } from './rate-limit.ts';
import { isUnread, readForm, readJson } from './read-body.ts';
import { requestId } from './request-id.ts';
import { readTarget, type Target } from './request-target.ts';
import type { Answer, Input, Route } from './route.ts';
import { createRouteMatcher } from './route-matcher.ts';
import { createSockets, type HttpServer } from './sockets.ts';

export type { HttpServer } from './sockets.ts';

/** What every listener needs, whatever it serves. */
export interface ListenerParts {
  contracts: Contracts;
  clock: Clock;
  ids: Ids;
  log: Log;
  metrics: Metrics;
  /** Requests in flight at most; one more is answered 503 with `Retry-After`. */
  maxInFlight?: number;
  /** Milliseconds for a whole request to come. */
  requestTimeout?: number;
}

interface Parts<Services, Caller> extends ListenerParts {
  /** Its name in metrics and log lines. */
  name: 'api' | 'admin';
  routes: readonly Route<Services, Caller>[];
  services: Services;
  /** Who calls a route that has a scope. Throws for a token that is missing, bad, or not enough. */
  authorize(authorization: string | undefined, scope: string, params: Record<string, string>): Caller | Promise<Caller>;
  /** Counts a request of who calls; what it says is on the answer, and when it refuses, the answer is 429. */
  limit?(caller: Caller): RateLimitVerdict | undefined;
  /** Paths where another method is answered 405 with `Allow` instead of 403. */
  strictPaths?: readonly string[];
  /** `{base_url}` of the listener. */
  baseUrl(): string;
}

const MAX_IN_FLIGHT = 1000;
const JSON_CONTENT = 'application/json; charset=utf-8';

/**
 * Serves a route table. The order of checks is the contract's (section 1): path and method, token, scope and
 * application, path parameters, query and body, then the handler's own rules.
 */
export function createListener<Services, Caller>(parts: Parts<Services, Caller>): HttpServer {
  const { name, services, authorize, contracts, clock, ids, log, metrics, baseUrl } = parts;
  const { maxInFlight = MAX_IN_FLIGHT, strictPaths = [], limit, requestTimeout } = parts;
  const match = createRouteMatcher(parts.routes);

  function find(method: string, path: string): { route: Route<Services, Caller>; params: Record<string, string> } {
    const found = match(method, path);
    const own = found?.methods.get(method);
    const asGet = method === 'HEAD' ? found?.methods.get('GET') : undefined;
    const route = own ?? (asGet?.head && asGet);
    if (found && route) return { route, params: found.params };
    const [other] = found?.methods.values() ?? [];
    if (found && other && strictPaths.includes(other.path)) {
      throw new DomainError('METHOD_NOT_ALLOWED', { values: { allow: [...found.methods.keys()].join(', ') } });
    }
    throw new DomainError('WRONG_URL');
  }

  function admit(context: Context, caller: Caller): void {
    const verdict = limit?.(caller);
    if (!verdict) return;
    context.set(verdict.headers);
    if (verdict.allowed) return;
    metrics.httpRefused.inc({ bound: 'rate_limit' });
    throw new DomainError('RATE_LIMITED', { values: { seconds: verdict.waitSeconds } });
  }

  async function readBody(context: Context, route: Route<Services, Caller>): Promise<unknown> {
    if (route.form !== undefined) return readForm(context.req);
    if (route.body === undefined) return undefined;
    const body = await readJson(context.req);
    if (body !== undefined) return contracts.check(route.body, body, 'body');
    if (route.bodyOptional) return {};
    throw DomainError.invalid({ loc: ['body'], msg: 'Field required', type: 'missing' });
  }

  async function serve(
    context: Context,
    target: Target,
    route: Route<Services, Caller>,
    raw: Record<string, string>,
  ): Promise<Answer> {
    const { headers } = context.req;
    const caller = route.scope === null ? undefined : await authorize(headers.authorization, route.scope, raw);
    if (caller !== undefined) admit(context, caller);
    const params = checkPathParameters(contracts, raw);
    const query = route.query && contracts.checkQuery(route.query, target.query);
    const body = await readBody(context, route);
    const input: Input = { params, body, stream: context.req, query, caller, headers, baseUrl: baseUrl(), target };
    return route.handler(services, input as Input<never, never, never, Caller>);
  }

  async function handle(context: Context): Promise<void> {
    const startedAt = clock.now();
    const id = requestId(context.req.headers['x-request-id'], ids);
    let route: Route<Services, Caller> | undefined;
    let answer: Answer;
    let error: DomainError | undefined;
    try {
      if (sockets.inFlight() > maxInFlight) {
        metrics.httpRefused.inc({ bound: 'requests_in_flight' });
        throw new DomainError('OVERLOADED');
      }
      const target = readTarget(context.req.url ?? '');
      const found = find(context.method, target.path);
      route = found.route;
      answer = await serve(context, target, route, found.params);
    } catch (thrown) {
      error = toDomainError(thrown);
      answer = errorAnswer(error, route?.scope ?? null);
      if (error.code === 'BODY_TOO_LARGE' && isUnread(context.req)) context.set('Connection', 'close');
    }
    context.set('X-Request-Id', id);
    send(context, answer);
    report({ id, method: context.method, route: route?.path ?? 'unknown', status: answer.status, startedAt, error });
  }

  function report(done: {
    id: string;
    method: string;
    route: string;
    status: number;
    startedAt: number;
    error: DomainError | undefined;
  }): void {
    const { id, method, route, status, error } = done;
    const seconds = (clock.now() - done.startedAt) / 1_000_000;
    metrics.httpRequests.inc({ listener: name, method, route, status });
    metrics.httpSeconds.observe({ listener: name, route }, seconds);
    const line = { listener: name, requestId: id, method, route, status, seconds };
    if (error?.code === 'INTERNAL') log.error({ ...line, err: error.cause ?? error }, 'request failed');
    else if (status >= 500) log.info({ ...line, err: error }, 'request refused');
    else log.debug(error ? { ...line, error: error.code } : line, 'request');
  }

  const sockets = createSockets({ handle, clock, log, ...(requestTimeout !== undefined && { requestTimeout }) });
  return sockets;
}

function send(context: Context, { status, body, headers }: Answer): void {
  context.status = status;
  if (headers) context.set(headers);
  if (body instanceof Readable) {
    context.body = body;
  } else if (typeof body === 'object' && !Buffer.isBuffer(body)) {
    context.set('Content-Type', JSON_CONTENT);
    context.body = JSON.stringify(body);
  } else if (body !== undefined) {
    context.body = body;
  } else if (status !== 204) {
    // Koa takes an unset body for "no answer was made" and would write the status text.
    context.body = '';
    context.remove('Content-Type');
  }
}
