import { DomainError } from '../../errors.ts';
import { deliveryDetail } from '../../views/delivery-detail.ts';
import { JsonSlices, lazily } from '../http/json-slices.ts';
import { momentOf } from '../http/moment.ts';
import { NO_STORE } from '../http/no-store.ts';
import { nextPageAfter } from '../http/paging.ts';
import type { Answer } from '../http/route.ts';
import type { ApiServices, AtApplication, AtDelivery } from './services.ts';

/** Lists the webhook deliveries of the application, newest first. */
export async function listDeliveries(
  { deliveryLog, formatTime }: ApiServices,
  input: AtApplication<never, 'rest/delivery-list-query'>,
): Promise<Answer> {
  const { params, query } = input;
  const { since: _since, until: _until, ...rest } = query;
  const [since, until] = [momentOf(query, 'since'), momentOf(query, 'until')];
  const times = { ...(since !== undefined && { since }), ...(until !== undefined && { until }) };
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
export async function readDelivery({ deliveryLog }: ApiServices, { params }: AtDelivery): Promise<Answer> {
  const delivery = await deliveryLog.find(params.applicationId, params.deliveryId);
  return { status: 200, headers: NO_STORE, body: deliveryDetail(delivery) };
}

/** Sends a delivery again. */
export async function redeliver({ deliveryLog }: ApiServices, { params }: AtDelivery): Promise<Answer> {
  await deliveryLog.redeliver(params.applicationId, params.deliveryId);
  return { status: 202 };
}

/**
 * Checks a time of a body and returns it unchanged. Throws REQUEST_INVALID for an impossible time: a 30th of February,
 * a 25th hour.
 */
function checkedTime(name: string, text: string): string {
  const seconds = text.slice(0, 19);
  const date = new Date(`${seconds}Z`);
  if (!Number.isNaN(date.getTime()) && date.toISOString().startsWith(seconds)) return text;
  const msg = 'Input should be a valid date and time';
  throw DomainError.invalid({ loc: ['body', name], msg, type: 'string_pattern_mismatch' });
}

/** Sends the deliveries of a time range again. */
export async function redeliverRange(
  { deliveryLog, parseTime }: ApiServices,
  { params, body }: AtApplication<'rest/redelivery-range'>,
): Promise<Answer> {
  const { since, until, dryRun, ...filter } = body;
  const range = {
    ...filter,
    since: since === undefined ? 0 : parseTime(checkedTime('since', since)),
    until: until === undefined ? Number.MAX_SAFE_INTEGER : parseTime(checkedTime('until', until)),
  };
  const send = dryRun ? deliveryLog.countRange : deliveryLog.redeliverRange;
  return { status: 202, body: { redelivered: await send(params.applicationId, range) } };
}

/** Sends a test event to a receiver of the application. */
export async function sendTestEvent(
  { deliveryLog }: ApiServices,
  { params, body }: AtApplication<'rest/webhook-test'>,
): Promise<Answer> {
  return { status: 202, body: { deliveryId: await deliveryLog.test(params.applicationId, body.setting) } };
}
