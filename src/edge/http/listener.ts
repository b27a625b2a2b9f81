import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import type { Contracts } from '@lapel/schemas/contracts/contracts';
import { DomainError, toDomainError } from '@lapel/schemas/contracts/errors';
import type { Context } from 'koa';
import type { Metrics } from '../../metrics.ts';
import { clientAddress } from '../../platform/entrance/client-address.ts';
import type { Proxies } from '../../platform/entrance/forwarded.ts';
import { createHostCheck, type HostNames } from '../../platform/entrance/host-names.ts';
import type { Clock } from '../../runtime/clock.ts';
import { type Asking, createAsking } from '../../runtime/current-caller.ts';
import type { Ids } from '../../runtime/ids.ts';
import type { Log } from '../../runtime/log.ts';
import { addressGroup } from '../../runtime/socket-bounds.ts';
import type { LimitShares } from '../../runtime/token-buckets.ts';
import { inSpan, NO_TRACING, type Tracing } from '../../runtime/tracing.ts';
import type { BegunChange, Changes } from './changes.ts';
import { createCostlyReads } from './costly-reads.ts';
import { drainRefusedBody } from './drain-refused-body.ts';
import { errorAnswer, errorHeaders } from './error-answer.ts';
import { createInFlight } from './in-flight.ts';
import { createInside, type Via } from './inside.ts';
import { createLoginGuard } from './login-guard.ts';
import { checkPathParameters } from './path-parameters.ts';
import { createProxiedClients } from './proxied-clients.ts';
import { checkQueryParameters } from './query-parameters.ts';
import type { RateLimitVerdict } from './rate-limit.ts';
import { isUnread } from './read-body.ts';
import { createReport } from './report.ts';
import { createRequestBodies, sourceOf } from './request-bodies.ts';
import { createRequestIds } from './request-id.ts';
import { beginRequest, endRequest } from './request-span.ts';
import { readTarget, type Target } from './request-target.ts';
import type { Answer, Input, Route } from './route.ts';
import { createRouter } from './router.ts';
import { createSend } from './send.ts';
import { checkSingleHeaders } from './single-headers.ts';
import { createSockets, type HttpServer, type SocketLimits } from './sockets.ts';

export type { HttpServer } from './sockets.ts';

/** The parts and limits that the listeners of the API and of administration are both given. */
export interface ListenerParts extends SocketLimits {
  contracts: Contracts;
  clock: Clock;
  ids: Ids;
  log: Log;
  metrics: Metrics;
  tracing?: Tracing;
  /** The most requests that the listener works on at a time. A further request is answered 503 with `Retry-After`. */
  maxInFlight?: number;
  /** The most requests of one application that the listener works on at a time. A further request is answered 429. */
  maxInFlightOfSource?: number;
  /** LAPEL_FAILED_LOGIN_LIMIT: requests with wrong credentials per second, from one address or for one application. */
  failedLoginLimit?: number;
  /** Divides the limits among the nodes; undefined without a cluster. */
  shares?: LimitShares | undefined;
  /** The proxies in front of the listener; undefined when none is trusted. */
  proxies?: Proxies | undefined;
  /** Remembers for which application a costly read runs, so that its database queries wait for their turn. */
  asking?: Asking;
}

interface Parts<Services, Caller> extends ListenerParts {
  /** The name of the listener in metrics and log lines. */
  name: 'api' | 'admin' | 'metrics';
  routes: readonly Route<Services, Caller>[];
  services: Services;
  /**
   * Finds the caller of a request to a route that has a scope. Throws when the token is missing, invalid, or lacks the
   * scope.
   */
  authorize(asked: IncomingMessage, scope: string, params: Record<string, string>): Caller | Promise<Caller>;
  /** Headers that are added to every answer to this caller, such as those that a browser needs. */
  headersFor?(caller: Caller): Record<string, string> | undefined;
  /** The applicationId of the caller. Bounds hold for each application; administration has none. */
  applicationOf?(caller: Caller): string;
  /**
   * The developerId of the caller's application. Capacity that all callers share is divided by developers first, then
   * by applications.
   */
  developerOf?(caller: Caller): string;
  /**
   * Counts a request against the rate limit of its caller. The result has headers for the answer, and tells whether the
   * request is refused with 429.
   */
  limit?(caller: Caller): RateLimitVerdict | undefined;
  /** Is told of each error with which a request is answered, and of the request. */
  refused?(error: DomainError, request: RefusedRequest): void;
  /** Records changes in the audit log. Without it, nothing is recorded. */
  changes?: Changes<Caller>;
  /**
   * The host names that requests may have in `Host`; IP addresses are always accepted. Undefined accepts every name.
   */
  names?: HostNames;
  /** The paths where an unknown method is answered 405 with `Allow`. On other paths it is answered 403. */
  strictPaths?: readonly string[];
  /** The base URL (`{base_url}`) of the listener. */
  baseUrl(): string;
}

/** A request that was answered with an error. */
interface RefusedRequest {
  method: string;
  path: string;
  requestId: string;
  address: string;
}

/** The data of one request that its steps share. */
interface Exchange<Services, Caller> {
  context: Context;
  target: Target;
  /** The address of the client. */
  address: string;
  route: Route<Services, Caller> | undefined;
  applicationId: string | undefined;
  developerId: string | undefined;
  /** The record of the change in the audit log; undefined for a request that is not recorded. */
  change: BegunChange | undefined;
  /** The body was read to its end. */
  isRead: boolean;
  /** The answer of the handler. */
  answer: Answer | undefined;
  /** Headers that are added to the answer of the handler. */
  headers: Record<string, string>;
}

const MAX_IN_FLIGHT = 1000;
const MAX_IN_FLIGHT_OF_SOURCE = 256;
const SOON = { seconds: 1 };

/**
 * Creates a listener that serves a route table. The contract (section 1) sets the order of its checks: path and method,
 * token, scope and application, path parameters, query, body, then the rules of the handler.
 */
export function createListener<Services, Caller>(parts: Parts<Services, Caller>): HttpServer {
  const { name, services, authorize, headersFor, applicationOf, contracts, clock, ids, log, metrics, baseUrl } = parts;
  const { maxInFlight = MAX_IN_FLIGHT, maxInFlightOfSource = MAX_IN_FLIGHT_OF_SOURCE } = parts;
  const { strictPaths = [], changes, limit, requestTimeout, headersTimeout, connections } = parts;
  const { failedLoginLimit = 0, shares } = parts;
  const { asking = createAsking(), developerOf, tracing = NO_TRACING } = parts;
  const dispatch = createRouter({ lines: parts.routes, strictPaths, serve: serveLine });
  const work = createInFlight();
  const costly = createCostlyReads({ metrics, asking });
  const logins = createLoginGuard({ clock, name, perSecond: failedLoginLimit, shares, metrics });
  const send = createSend({ log });
  const requestIdOf = createRequestIds(ids);
  const report = createReport({ name, clock, log, metrics });
  const checkHost = parts.names && createHostCheck(parts.names);
  const hsts = parts.entrance?.hsts === undefined ? undefined : { 'Strict-Transport-Security': parts.entrance.hsts };
  const perClient = connections?.perAddress ?? Number.POSITIVE_INFINITY;
  const clientOf = parts.proxies && createProxiedClients({ proxies: parts.proxies, perClient, clock, log });

  function admit({ headers }: Exchange<Services, Caller>, caller: Caller): void {
    const verdict = limit?.(caller);
    if (!verdict) return;
    Object.assign(headers, verdict.headers);
    if (verdict.allowed) return;
    metrics.httpRefused.inc({ bound: 'rate_limit' });
    throw new DomainError('RATE_LIMITED', { values: { seconds: verdict.waitSeconds } });
  }

  async function beginChange(
    exchange: Exchange<Services, Caller>,
    { method, path: route }: Route<Services, Caller>,
    caller: Caller,
  ): Promise<void> {
    const { context, target, headers, address } = exchange;
    const requestId = headers['X-Request-Id'] ?? '';
    const via = context.state['via'] as Via | undefined;
    const asked = { caller, method, route, path: target.path, requestId, headers: context.req.headers, address, via };
    exchange.change = await changes?.begin(asked);
  }

  function refuse(bound: string, error: DomainError): never {
    metrics.httpRefused.inc({ bound });
    throw error;
  }

  function requireRoom(): void {
    if (work.all() > maxInFlight) refuse('requests_in_flight', new DomainError('OVERLOADED'));
  }

  const inside = createInside({ routes: parts.routes, handle, works: (socket) => sockets.works(socket) });
  const bodies = createRequestBodies({ contracts, metrics, work, sockets: () => sockets, requireRoom });

  /** Serves a request of a permitted caller: checks parameters, query and body, then calls the handler. */
  async function serve(
    exchange: Exchange<Services, Caller>,
    route: Route<Services, Caller>,
    { raw, caller }: { raw: Record<string, string>; caller: Caller | undefined },
  ): Promise<Answer> {
    const { context, target, address, applicationId } = exchange;
    const { req, res } = context;
    const params = checkPathParameters(contracts, target.path, raw);
    const query = route.anyQuery ? undefined : checkQueryParameters(contracts, route.query, target.query);
    const body = route.body === undefined ? undefined : await bodies.read(exchange, route.body, route);
    const readForm = route.form === undefined ? NO_FORM : bodies.formReader(exchange);
    const changed = exchange.change?.changed ?? NOT_RECORDED;
    const requestId = exchange.headers['X-Request-Id'] ?? '';
    const about = { headers: req.headers, address, requestId, baseUrl: baseUrl(), target, changed };
    const input: Input = { params, body, stream: req, readForm, query, caller, ...about };
    if (route.asks) input.inside = inside(req, requestId);
    const answer = (): Answer | Promise<Answer> => route.handler(services, input as Input<never, never, never, Caller>);
    if (!route.costly || applicationId === undefined || caller === undefined) return answer();
    const began = (leave: () => void): void => {
      res.once('close', leave);
      if (req.socket.destroyed) leave();
    };
    return costly.read({ developerId: developerOf?.(caller) ?? '', applicationId }, began, answer);
  }

  /**
   * Serves a request for a route. The caller is found first, because its bounds are checked before the bounds that all
   * callers share.
   */
  async function serveLine(
    context: Context,
    route: Route<Services, Caller>,
    raw: Record<string, string>,
  ): Promise<void> {
    const exchange = context.state['exchange'] as Exchange<Services, Caller>;
    exchange.route = route;
    if (!route.anyHost) checkHost?.(context.req.headers.host);
    if (route.scope === null) {
      exchange.answer = await serve(exchange, route, { raw, caller: undefined });
      return;
    }
    const caller = await authorize(context.req, route.scope, raw);
    if (headersFor) Object.assign(exchange.headers, headersFor(caller));
    const applicationId = applicationOf?.(caller);
    exchange.applicationId = applicationId;
    exchange.developerId = developerOf?.(caller);
    admit(exchange, caller);
    // A change by an assistant is recorded also where the same change by a program is not.
    if (changes?.has(route) || context.state['via']) await beginChange(exchange, route, caller);
    if (applicationId === undefined) {
      exchange.answer = await serve(exchange, route, { raw, caller });
      return;
    }
    const developer = `developer ${exchange.developerId ?? ''}`;
    try {
      const [own, ofDeveloper] = [work.enterOf(applicationId), work.enterOf(developer)];
      if (own > maxInFlightOfSource) {
        refuse('requests_in_flight_per_application', new DomainError('RATE_LIMITED', { values: SOON }));
      }
      // A developer with many applications may not use up the listener: as much as it uses must stay free for others.
      if (ofDeveloper > 1 && ofDeveloper > maxInFlight - work.all()) {
        refuse('requests_in_flight_per_developer', new DomainError('RATE_LIMITED', { values: SOON }));
      }
      exchange.answer = await serve(exchange, route, { raw, caller });
    } finally {
      work.leaveOf(applicationId);
      work.leaveOf(developer);
    }
  }

  /** Finds the route of a request and returns its answer. */
  async function answer(exchange: Exchange<Services, Caller>, isFull: boolean): Promise<Answer> {
    const { context, target } = exchange;
    const { req } = context;
    work.enter();
    try {
      requireRoom();
      if (isFull) refuse('requests_per_client', new DomainError('RATE_LIMITED', { values: SOON }));
      checkSingleHeaders(req.rawHeaders, req.httpVersion);
      context.state['exchange'] = exchange;
      await dispatch(context, target.path);
      return exchange.answer!;
    } finally {
      work.leave();
    }
  }

  /** Makes the answer for an error. Too many wrong credentials change the error to RATE_LIMITED. */
  async function answerError(exchange: Exchange<Services, Caller>, thrown: unknown) {
    const { context, target, address, route, headers, isRead } = exchange;
    let error = toDomainError(thrown);
    const requestId = headers['X-Request-Id'] ?? '';
    parts.refused?.(error, { method: context.method, path: target.path, requestId, address });
    if (logins.concerns(error)) {
      sockets.waits(context.req.socket);
      error = await logins.judge(error, addressGroup(address));
    }
    if (!isRead && isUnread(context.req) && UNREAD.has(error.code)) {
      headers['Connection'] = 'close';
      drainRefusedBody(context.req);
    }
    const scope = route?.scope ?? null;
    const own = route?.errors?.(error, { baseUrl: baseUrl() });
    const given = own
      ? { ...own, headers: { ...errorHeaders(error, scope), ...own.headers } }
      : errorAnswer(error, scope);
    return { error, given };
  }

  async function handle(context: Context): Promise<void> {
    const startedAt = clock.now();
    const { req, res } = context;
    const requestId = requestIdOf(req.headers['x-request-id']);
    const client = clientOf?.(req, res);
    const exchange: Exchange<Services, Caller> = {
      context,
      target: readTarget(req.url ?? ''),
      address: client?.address ?? clientAddress(req.socket),
      route: undefined,
      applicationId: undefined,
      developerId: undefined,
      change: undefined,
      isRead: false,
      answer: undefined,
      headers: hsts === undefined ? { 'X-Request-Id': requestId } : { 'X-Request-Id': requestId, ...hsts },
    };
    const { target } = exchange;
    const span =
      tracing === NO_TRACING ? undefined : beginRequest(tracing, { context, target, requestId, listener: name });
    let given: Answer;
    let error: DomainError | undefined;
    try {
      const isFull = client?.isFull ?? false;
      given = await (span ? inSpan(span, () => answer(exchange, isFull)) : answer(exchange, isFull));
      if (given.error) {
        error = given.error;
        given = { ...given, headers: { ...errorHeaders(error, exchange.route?.scope ?? null), ...given.headers } };
      }
    } catch (thrown) {
      ({ error, given } = await answerError(exchange, thrown));
    }
    const { change } = exchange;
    const open = given.body instanceof Readable ? given.body : undefined;
    if (change) await change.ended(given.status, error?.code, open !== undefined);
    if (change && open) open.once('close', () => void change.closed());
    // At shutdown Node closes only idle connections; this header makes it close the others after their answer.
    if (sockets.isLeaving() || given.endless) exchange.headers['Connection'] = 'close';
    if (given.endless || given.waiting) sockets.markEndless(req.socket);
    if (!send(context, given, exchange.headers)) sockets.waits(req.socket);
    const done = {
      requestId,
      method: context.method,
      route: exchange.route?.path ?? 'unknown',
      status: given.status,
      startedAt,
      error,
      source: error && sourceOf(exchange),
      applicationId: exchange.applicationId,
      traceparent: span?.traceparent ?? null,
    };
    report(done);
    if (span) endRequest(span, done);
  }

  const sockets = createSockets({
    handle,
    clock,
    log,
    metrics,
    onDrain: logins.release,
    ...(requestTimeout !== undefined && { requestTimeout }),
    ...(headersTimeout !== undefined && { headersTimeout }),
    ...(connections && { connections }),
    entrance: parts.entrance,
    isShared: parts.proxies && ((address) => parts.proxies?.trusted.has(address) ?? false),
  });
  return sockets;
}

const NOT_RECORDED = (): Promise<void> => Promise.resolve();
const NO_FORM = (): Promise<undefined> => Promise.resolve(undefined);

// Errors after which the rest of a body is not read.
const UNREAD: ReadonlySet<string> = new Set(['BODY_TOO_LARGE', 'RATE_LIMITED', 'OVERLOADED']);
