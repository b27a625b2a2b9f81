import type { Context } from 'koa';
import type { Clock } from '../clock.ts';
import type { Contracts } from '../contracts/contracts.ts';
import { DomainError, toDomainError } from '../errors.ts';
import type { Ids } from '../ids.ts';
import type { Log } from '../log.ts';
import type { Metrics } from '../metrics.ts';
import { addressGroup } from '../socket-bounds.ts';
import { createBodyBytes } from './body-bytes.ts';
import { createCostlyReads } from './costly-reads.ts';
import { errorAnswer, errorHeaders } from './error-answer.ts';
import { createInFlight } from './in-flight.ts';
import { createLoginGuard } from './login-guard.ts';
import { checkPathParameters } from './path-parameters.ts';
import { checkQueryParameters } from './query-parameters.ts';
import type { RateLimitVerdict } from './rate-limit.ts';
import { BODY_LIMIT, FORM_LIMIT, isUnread, readForm, readJson } from './read-body.ts';
import { createReport } from './report.ts';
import { requestId } from './request-id.ts';
import { readTarget, type Target } from './request-target.ts';
import type { Answer, Input, Route } from './route.ts';
import { createRouteMatcher } from './route-matcher.ts';
import { createSend } from './send.ts';
import { checkSingleHeaders } from './single-headers.ts';
import { createSockets, type HttpServer, type SocketLimits } from './sockets.ts';

export type { HttpServer } from './sockets.ts';

/** What every listener needs, whatever it serves. */
export interface ListenerParts extends SocketLimits {
  contracts: Contracts;
  clock: Clock;
  ids: Ids;
  log: Log;
  metrics: Metrics;
  /** Requests in work at most, over all; one more is answered 503 with `Retry-After`. */
  maxInFlight?: number;
  /** Of these for one source; one more is answered 429. */
  maxInFlightOfSource?: number;
  /** LAPEL_FAILED_LOGIN_LIMIT: requests with wrong credentials per second of one address. */
  failedLoginLimit?: number;
}

interface Parts<Services, Caller> extends ListenerParts {
  /** Its name in metrics and log lines. */
  name: 'api' | 'admin';
  routes: readonly Route<Services, Caller>[];
  services: Services;
  /** Who calls a route that has a scope. Throws for a token that is missing, bad, or not enough. */
  authorize(authorization: string | undefined, scope: string, params: Record<string, string>): Caller | Promise<Caller>;
  /** The application that calls, where there is one: bounds hold for each. */
  applicationOf?(caller: Caller): string;
  /** Counts a request of who calls; what it says is on the answer, and when it refuses, the answer is 429. */
  limit?(caller: Caller): RateLimitVerdict | undefined;
  /** Paths where another method is answered 405 with `Allow` instead of 403. */
  strictPaths?: readonly string[];
  /** `{base_url}` of the listener. */
  baseUrl(): string;
}

/** What is known of a request while it is served. */
interface Exchange<Services, Caller> {
  context: Context;
  /** What stands for the peer. */
  address: string;
  /** Once they are known. */
  route?: Route<Services, Caller>;
  applicationId?: string;
}

const MAX_IN_FLIGHT = 1000;
const MAX_IN_FLIGHT_OF_SOURCE = 256;
const SOON = { seconds: 1 };

/**
 * Serves a route table. The order of checks is the contract's (section 1): path and method, token, scope and
 * application, path parameters, query and body, then the handler's own rules.
 */
export function createListener<Services, Caller>(parts: Parts<Services, Caller>): HttpServer {
  const { name, services, authorize, applicationOf, contracts, clock, ids, log, metrics, baseUrl } = parts;
  const { maxInFlight = MAX_IN_FLIGHT, maxInFlightOfSource = MAX_IN_FLIGHT_OF_SOURCE } = parts;
  const { strictPaths = [], limit, requestTimeout, connections, failedLoginLimit = 0 } = parts;
  const match = createRouteMatcher(parts.routes);
  const work = createInFlight();
  const bytes = createBodyBytes({ metrics });
  const costly = createCostlyReads({ metrics });
  const logins = createLoginGuard({ clock, name, perSecond: failedLoginLimit, metrics });
  const send = createSend();
  const report = createReport({ name, clock, log, metrics });

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

  function refuse(bound: string, error: DomainError): never {
    metrics.httpRefused.inc({ bound });
    throw error;
  }

  /** Reads what a client may send as slowly as it likes: meanwhile the service does not work for it. */
  async function patiently<Result>({ req }: Context, read: () => Promise<Result>): Promise<Result> {
    if (req.complete) return read();
    work.leave();
    sockets.waits(req.socket);
    let result: Result;
    try {
      result = await read();
    } finally {
      work.enter();
      sockets.works(req.socket);
    }
    if (work.all() > maxInFlight) refuse('requests_in_flight', new DomainError('OVERLOADED'));
    return result;
  }

  async function readBody({ context, route, applicationId, address }: Known<Services, Caller>): Promise<unknown> {
    if (route.body === undefined) return undefined;
    const bounds = { limit: BODY_LIMIT, source: applicationId ?? address, bytes };
    const body = await patiently(context, () => readJson(context.req, bounds));
    if (body !== undefined) return contracts.check(route.body, body, 'body');
    if (route.bodyOptional) return {};
    throw DomainError.invalid({ loc: ['body'], msg: 'Field required', type: 'missing' });
  }

  async function answerOf(
    exchange: Known<Services, Caller>,
    caller: Caller | undefined,
    target: Target,
    raw: Record<string, string>,
  ): Promise<Answer> {
    const { context, route, address } = exchange;
    const params = checkPathParameters(contracts, raw);
    const query = checkQueryParameters(contracts, route.query, target.query);
    const body = await readBody(exchange);
    const { req } = context;
    const input: Input = {
      params,
      body,
      stream: req,
      readForm: () => patiently(context, () => readForm(req, { limit: FORM_LIMIT, source: address, bytes })),
      query,
      caller,
      headers: req.headers,
      baseUrl: baseUrl(),
      target,
    };
    const source = exchange.applicationId;
    if (route.costly && source !== undefined) {
      const leave = await costly.enter(source);
      context.res.once('close', leave);
      if (req.socket.destroyed) leave();
    }
    return route.handler(services, input as Input<never, never, never, Caller>);
  }

  /** Who calls is found out first, and bounds hold for each caller. */
  async function serve(
    exchange: Known<Services, Caller>,
    target: Target,
    params: Record<string, string>,
  ): Promise<Answer> {
    const { context, route } = exchange;
    if (route.scope === null) return answerOf(exchange, undefined, target, params);
    const caller = await authorize(context.req.headers.authorization, route.scope, params);
    const source = applicationOf?.(caller);
    if (source === undefined) return answerOf(exchange, caller, target, params);
    exchange.applicationId = source;
    admit(context, caller);
    try {
      if (work.enterOf(source) > maxInFlightOfSource) {
        refuse('requests_in_flight_per_application', new DomainError('RATE_LIMITED', { values: SOON }));
      }
      return await answerOf(exchange, caller, target, params);
    } finally {
      work.leaveOf(source);
    }
  }

  /** The answer that the route table gives. */
  async function answer(exchange: Exchange<Services, Caller>): Promise<Answer> {
    const { context } = exchange;
    work.enter();
    try {
      if (work.all() > maxInFlight) refuse('requests_in_flight', new DomainError('OVERLOADED'));
      checkSingleHeaders(context.req.rawHeaders);
      const target = readTarget(context.req.url ?? '');
      const { route, params } = find(context.method, target.path);
      return await serve(Object.assign(exchange, { route }), target, params);
    } finally {
      work.leave();
    }
  }

  /** The answer for an error, and what the error is in the end. */
  async function answerError({ context, route, address }: Exchange<Services, Caller>, thrown: unknown) {
    let error = toDomainError(thrown);
    if (logins.concerns(error)) {
      sockets.waits(context.req.socket);
      error = await logins.judge(error, address);
    }
    if (isUnread(context.req) && UNREAD.has(error.code)) context.set('Connection', 'close');
    const scope = route?.scope ?? null;
    const own = route?.errors?.(error);
    const given = own
      ? { ...own, headers: { ...errorHeaders(error, scope), ...own.headers } }
      : errorAnswer(error, scope);
    return { error, given };
  }

  async function handle(context: Context): Promise<void> {
    const startedAt = clock.now();
    const id = requestId(context.req.headers['x-request-id'], ids);
    const exchange: Exchange<Services, Caller> = { context, address: addressGroup(context.req.socket.remoteAddress) };
    let given: Answer;
    let error: DomainError | undefined;
    try {
      given = await answer(exchange);
      if (given.error) {
        error = given.error;
        given = { ...given, headers: { ...errorHeaders(error, exchange.route?.scope ?? null), ...given.headers } };
      }
    } catch (thrown) {
      ({ error, given } = await answerError(exchange, thrown));
    }
    context.set('X-Request-Id', id);
    if (!send(context, given)) sockets.waits(context.req.socket);
    report({
      requestId: id,
      method: context.method,
      route: exchange.route?.path ?? 'unknown',
      status: given.status,
      startedAt,
      error,
      applicationId: exchange.applicationId,
      address: exchange.address,
    });
  }

  const sockets = createSockets({
    handle,
    clock,
    log,
    metrics,
    onDrain: logins.release,
    ...(requestTimeout !== undefined && { requestTimeout }),
    ...(connections && { connections }),
  });
  return sockets;
}

type Known<Services, Caller> = Exchange<Services, Caller> & { route: Route<Services, Caller> };

// Errors in the middle of a body that nobody will read to its end.
const UNREAD: ReadonlySet<string> = new Set(['BODY_TOO_LARGE', 'RATE_LIMITED', 'OVERLOADED']);
