import { deliveryDetail } from '../../views/delivery-detail.ts';
import { JsonSlices, lazily } from '../http/json-slices.ts';
import { readEither } from '../http/moment.ts';
import { NO_STORE } from '../http/no-store.ts';
import { nextPageAfter } from '../http/paging.ts';
import type { Answer } from '../http/route.ts';
import type { ApiServices, AtApplication, AtDelivery } from './services.ts';

type Services = Pick<ApiServices, 'deliveryLog' | 'formatTime' | 'parseTime'>;

/** Lists the webhook deliveries of the application, newest first. */
export async function listDeliveries(
  { deliveryLog, formatTime, parseTime }: Services,
  input: AtApplication<never, 'rest/delivery-list-query'>,
): Promise<Answer> {
  const { params, query } = input;
  const { since, until, ...rest } = query;
  const times = {
    ...(since !== undefined && { since: readEither(since, parseTime, 'query', 'since') }),
    ...(until !== undefined && { until: readEither(until, parseTime, 'query', 'until') }),
  };
  const { rows, total, next } = await deliveryLog.list(params.applicationId, { ...rest, ...times });
  const deliveries = lazily(rows, ({ applicationId: _applicationId, updatedAt: _updatedAt, ...delivery }) => ({
    ...delivery,
    nextAttemptAt: delivery.nextAttemptAt === null ? null : formatTime(delivery.nextAttemptAt),
    createdAt: formatTime(delivery.createdAt),
  }));
  const body = new JsonSlices({ deliveries, total });
  // Not cached, because the URL of a receiver may hold a token.
  return { status: 200, headers: { ...NO_STORE, ...(next && nextPageAfter(input, query, next)) }, body };
}

/** Reads a delivery with its body and the results of its failed attempts. */
export async function readDelivery({ deliveryLog }: Services, { params }: AtDelivery): Promise<Answer> {
  const delivery = await deliveryLog.find(params.applicationId, params.deliveryId);
  return { status: 200, headers: NO_STORE, body: deliveryDetail(delivery) };
}

/** Sends a delivery again. */
export async function redeliver({ deliveryLog }: Services, { params }: AtDelivery): Promise<Answer> {
  await deliveryLog.redeliver(params.applicationId, params.deliveryId);
  return { status: 202 };
}

/** Sends the deliveries of a time range again. */
export async function redeliverRange(
  { deliveryLog, parseTime }: Services,
  { params, body, changed }: AtApplication<'rest/redelivery-range'>,
): Promise<Answer> {
  const { since, until, dryRun, ...filter } = body;
  const range = {
    ...filter,
    since: since === undefined ? 0 : readEither(since, parseTime, 'body', 'since'),
    until: until === undefined ? Number.MAX_SAFE_INTEGER : readEither(until, parseTime, 'body', 'until'),
  };
  const send = dryRun ? deliveryLog.countRange : deliveryLog.redeliverRange;
  const redelivered = await send(params.applicationId, range);
  if (dryRun) await changed({ dryRun, counted: redelivered });
  return { status: 202, body: { redelivered } };
}

/** Sends a test event to a receiver of the application. */
export async function sendTestEvent(
  { deliveryLog }: Services,
  { params, body }: AtApplication<'rest/webhook-test'>,
): Promise<Answer> {
  return { status: 202, body: { deliveryId: await deliveryLog.test(params.applicationId, body.setting) } };
}
