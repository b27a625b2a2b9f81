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
  route: Route<Services, Caller> | undefined;
  applicationId: string | undefined;
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

  async function readBody(exchange: Exchange<Services, Caller>, route: Route<Services, Caller>): Promise<unknown> {
    const { context } = exchange;
    const bounds = { limit: BODY_LIMIT, source: sourceOf(exchange), bytes };
    const body = await patiently(context, () => readJson(context.req, bounds));
    if (body !== undefined) return contracts.check(route.body!, body, 'body');
    if (route.bodyOptional) return {};
    throw DomainError.invalid({ loc: ['body'], msg: 'Field required', type: 'missing' });
  }

  const formReader = (context: Context) => () => {
    const bounds = { limit: FORM_LIMIT, source: addressOf(context), bytes };
    return patiently(context, () => readForm(context.req, bounds));
  };

  /** What is asked for, by one who may ask: parameters, query, body, then the handler. */
  async function serve(
    exchange: Exchange<Services, Caller>,
    route: Route<Services, Caller>,
    { target, raw, caller }: { target: Target; raw: Record<string, string>; caller: Caller | undefined },
  ): Promise<Answer> {
    const { context, applicationId } = exchange;
    const { req, res } = context;
    const params = checkPathParameters(contracts, raw);
    const query = checkQueryParameters(contracts, route.query, target.query);
    const body = route.body === undefined ? undefined : await readBody(exchange, route);
    const readForm = route.form === undefined ? NO_FORM : formReader(context);
    const { headers } = req;
    const input: Input = { params, body, stream: req, readForm, query, caller, headers, baseUrl: baseUrl(), target };
    if (route.costly && applicationId !== undefined) {
      const leave = await costly.enter(applicationId);
      res.once('close', leave);
      if (req.socket.destroyed) leave();
    }
    return route.handler(services, input as Input<never, never, never, Caller>);
  }

  /** The answer that the route table gives. Who calls is found out first: bounds hold for each caller, then for all. */
  async function answer(exchange: Exchange<Services, Caller>): Promise<Answer> {
    const { context } = exchange;
    const { req } = context;
    let entered: string | undefined;
    work.enter();
    try {
      if (work.all() > maxInFlight) refuse('requests_in_flight', new DomainError('OVERLOADED'));
      checkSingleHeaders(req.rawHeaders, req.httpVersion);
      const target = readTarget(req.url ?? '');
      const { route, params: raw } = find(context.method, target.path);
      exchange.route = route;
      if (route.scope === null) return await serve(exchange, route, { target, raw, caller: undefined });
      const caller = await authorize(req.headers.authorization, route.scope, raw);
      exchange.applicationId = applicationOf?.(caller);
      admit(context, caller);
      if (exchange.applicationId !== undefined) {
        entered = exchange.applicationId;
        if (work.enterOf(entered) > maxInFlightOfSource) {
          refuse('requests_in_flight_per_application', new DomainError('RATE_LIMITED', { values: SOON }));
        }
      }
      return await serve(exchange, route, { target, raw, caller });
    } finally {
      work.leave();
      if (entered !== undefined) work.leaveOf(entered);
    }
  }

  /** The answer for an error, and what the error is in the end. */
  async function answerError({ context, route }: Exchange<Services, Caller>, thrown: unknown) {
    let error = toDomainError(thrown);
    if (logins.concerns(error)) {
      sockets.waits(context.req.socket);
      error = await logins.judge(error, addressOf(context));
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
    const exchange: Exchange<Services, Caller> = { context, route: undefined, applicationId: undefined };
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
      source: error && sourceOf(exchange),
      applicationId: exchange.applicationId,
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

const addressOf = ({ req }: Context): string => addressGroup(req.socket.remoteAddress);
/** Whose bounds hold. */
const sourceOf = ({ applicationId, context }: { applicationId: string | undefined; context: Context }): string =>
  applicationId ?? addressOf(context);

const NO_FORM = (): Promise<undefined> => Promise.resolve(undefined);

// Errors in the middle of a body that nobody will read to its end.
const UNREAD: ReadonlySet<string> = new Set(['BODY_TOO_LARGE', 'RATE_LIMITED', 'OVERLOADED']);
