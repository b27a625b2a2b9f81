import { DomainError } from '@lapel/schemas/contracts/errors';
import type { SchemaTypes } from '@lapel/schemas/contracts/types';
import { WEBHOOK_SETTINGS } from '@lapel/schemas/contracts/values';
import type { Endpoint, Replay } from '../../core/endpoints/endpoint.ts';
import { publicKeyOf, schemeOf } from '../../core/endpoints/endpoint-secrets.ts';
import { entityTag, matcher } from '../http/entity-tag.ts';
import { readEither } from '../http/moment.ts';
import { NO_STORE } from '../http/no-store.ts';
import type { Answer } from '../http/route.ts';
import type { ApiServices, AtApplication, AtEndpoint, AtEndpointDelivery } from './services.ts';

type Services = Pick<ApiServices, 'endpoints' | 'replays' | 'formatTime' | 'parseTime' | 'clock'>;

/** The properties that a PATCH can change. */
const stateOf = ({ url, types, description, enabled, ordered, ratePerSecond }: Endpoint): object => ({
  url,
  types,
  description,
  enabled,
  ordered,
  ratePerSecond,
});

const headersOf = (endpoint: Endpoint) => ({ ...NO_STORE, ETag: entityTag(stateOf(endpoint)) });

function replayBody({ formatTime }: Pick<Services, 'formatTime'>, replay: Replay | null): SchemaTypes['rest/replay'] {
  return replay && { ...replay, types: [...(replay.types ?? [])], startedAt: formatTime(replay.startedAt) };
}

async function bodyOf(services: Services, endpoint: Endpoint): Promise<SchemaTypes['rest/endpoint']> {
  const { endpoints, formatTime, clock } = services;
  const [state, blockedDevices] = await Promise.all([endpoints.stateOf(endpoint), endpoints.blockedDevices(endpoint)]);
  const time = (at: number | null): string | null => (at === null ? null : formatTime(at));
  const scheme = schemeOf(endpoint.secret);
  const keys = endpoints.secretsOf(endpoint).filter((secret) => schemeOf(secret) === 'v1a');
  const { behind, pending, blocked, oldestAt, delivered, failed } = state;
  return {
    endpointId: endpoint.endpointId,
    ...stateOf(endpoint),
    url: endpoint.url,
    types: [...endpoint.types],
    description: endpoint.description,
    enabled: endpoint.enabled,
    ordered: endpoint.ordered ? 'device' : 'none',
    ratePerSecond: endpoint.ratePerSecond,
    disabledReason: endpoint.disabledReason,
    signatures: [scheme],
    publicKeys: keys.map(publicKeyOf) as SchemaTypes['rest/endpoint']['publicKeys'],
    secretReplacedAt: time(endpoint.secretReplacedAt),
    after: endpoint.after,
    passedOver: endpoint.passedOver,
    failingSince: time(endpoint.failingSince),
    lastStatusCode: endpoint.lastStatusCode,
    lastError: endpoint.lastError,
    state: {
      behind,
      pending,
      blocked,
      seconds: oldestAt === null ? 0 : Math.max(0, (clock.now() - oldestAt) / 1_000_000),
      delivered,
      failed,
    },
    blockedDevices,
    replay: replayBody(services, endpoint.replay),
    createdAt: formatTime(endpoint.createdAt),
    updatedAt: formatTime(endpoint.updatedAt),
  };
}

/** The body that shows the secret, once. */
async function createdBody(services: Services, endpoint: Endpoint): Promise<SchemaTypes['rest/endpoint-created']> {
  const secret = schemeOf(endpoint.secret) === 'v1' ? endpoint.secret : null;
  return { ...(await bodyOf(services, endpoint)), secret };
}

/** Lists the endpoints of the application, and the URLs of its settings. */
export async function listEndpoints(services: Services, { params, caller }: AtApplication): Promise<Answer> {
  const endpoints = await services.endpoints.list(params.applicationId);
  const body: SchemaTypes['rest/endpoint-list'] = {
    endpoints: await Promise.all(endpoints.map((one) => bodyOf(services, one))),
    settings: WEBHOOK_SETTINGS.map((setting) => ({ setting, url: caller.settings[setting] })),
  };
  return { status: 200, headers: NO_STORE, body };
}

/** Makes an endpoint. Its secret is shown here only. */
export async function createEndpoint(
  services: Services,
  { params, body, changed }: AtApplication<'rest/endpoint-create'>,
): Promise<Answer> {
  const { url, types = [], description = '', enabled = true, ordered, ratePerSecond = null, signatures } = body;
  const endpoint = await services.endpoints.create(params.applicationId, {
    url,
    types,
    description,
    enabled,
    ordered: ordered === 'device',
    ratePerSecond,
    signatures: signatures?.[0] ?? 'v1',
  });
  await changed({ id: endpoint.endpointId });
  return { status: 201, headers: headersOf(endpoint), body: await createdBody(services, endpoint) };
}

/** Reads an endpoint and its state. */
export async function readEndpoint(services: Services, { params }: AtEndpoint): Promise<Answer> {
  const endpoint = await services.endpoints.find(params.applicationId, params.endpointId);
  return { status: 200, headers: headersOf(endpoint), body: await bodyOf(services, endpoint) };
}

/** Changes an endpoint. */
export async function updateEndpoint(
  services: Services,
  { params, body, headers }: AtEndpoint<'rest/endpoint-update'>,
): Promise<Answer> {
  const { ordered, ...change } = body;
  const check = matcher(headers);
  const endpoint = await services.endpoints.change(
    params.applicationId,
    params.endpointId,
    { ...change, ...(ordered !== undefined && { ordered: ordered === 'device' }) },
    (known) => check(stateOf(known)),
  );
  return { status: 200, headers: headersOf(endpoint), body: await bodyOf(services, endpoint) };
}

/** Removes an endpoint. */
export async function deleteEndpoint({ endpoints }: Services, { params, headers }: AtEndpoint): Promise<Answer> {
  const check = matcher(headers);
  await endpoints.remove(params.applicationId, params.endpointId, (known) => check(stateOf(known)));
  return { status: 204 };
}

/** Makes another secret, or key pair, for an endpoint; the former one signs as well for a day. */
export async function replaceEndpointSecret(
  services: Services,
  { params, body }: AtEndpoint<'rest/endpoint-secret-replace'>,
): Promise<Answer> {
  const { applicationId, endpointId } = params;
  const endpoint = await services.endpoints.replaceSecret(applicationId, endpointId, body.signatures?.[0]);
  return { status: 201, headers: headersOf(endpoint), body: await createdBody(services, endpoint) };
}

/** Sends a test event to an endpoint, whatever its types are. */
export async function testEndpoint({ endpoints }: Services, { params }: AtEndpoint): Promise<Answer> {
  const eventId = await endpoints.test(params.applicationId, params.endpointId);
  return { status: 202, body: { eventId } };
}

/** Lists deliveries to an endpoint, the newest event first. */
export async function listEndpointDeliveries(
  { endpoints, formatTime }: Services,
  { params, query }: AtEndpoint<never, 'rest/endpoint-delivery-list-query'>,
): Promise<Answer> {
  const { rows, next } = await endpoints.deliveries(params.applicationId, params.endpointId, query);
  const body: SchemaTypes['rest/endpoint-delivery-list'] = {
    deliveries: rows.map((row) => ({
      ...row,
      nextAttemptAt: row.nextAttemptAt === null ? null : formatTime(row.nextAttemptAt),
      createdAt: formatTime(row.createdAt),
      updatedAt: formatTime(row.updatedAt),
    })),
    next,
  };
  return { status: 200, headers: NO_STORE, body };
}

/** Gives up a delivery that waits, so that the events behind it can be sent. */
export async function skipEndpointDelivery({ endpoints }: Services, { params }: AtEndpointDelivery): Promise<Answer> {
  await endpoints.skip(params.applicationId, params.endpointId, params.sequence);
  return { status: 204 };
}

/** Begins to send events again to an endpoint, or only counts them. */
export async function startReplay(
  services: Services,
  { params, body, changed }: AtEndpoint<'rest/replay-request'>,
): Promise<Answer> {
  const { applicationId, endpointId } = params;
  const { replays, parseTime } = services;
  const { since, until, dryRun, ...rest } = body;
  if (since !== undefined && rest.after !== undefined)
    throw DomainError.invalid({
      loc: ['body', 'since'],
      msg: 'Input is not permitted beside after',
      type: 'extra_forbidden',
    });
  const wish = {
    ...rest,
    ...(since !== undefined && { since: readEither(since, parseTime, 'body', 'since') }),
    ...(until !== undefined && { until: readEither(until, parseTime, 'body', 'until') }),
  };
  const events = await replays.count(applicationId, endpointId, wish);
  const replay = dryRun ? null : await replays.start(applicationId, endpointId, wish);
  if (dryRun) await changed({ dryRun, counted: events });
  const answer: SchemaTypes['rest/replay-answer'] = { events, replay: replayBody(services, replay) };
  return { status: 202, body: answer };
}

/** Ends a replay; what it has taken already is sent. */
export async function cancelReplay({ replays }: Services, { params }: AtEndpoint): Promise<Answer> {
  await replays.cancel(params.applicationId, params.endpointId);
  return { status: 204 };
}
