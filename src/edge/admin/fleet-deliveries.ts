import { textWithoutSecrets, withoutSecrets } from '@lapel/schemas/base/without-secrets';
import type { Receiver, SchemaTypes } from '@lapel/schemas/contracts/types';
import { toUtc } from '../../runtime/clock.ts';
import { deliveryDetail } from '../../views/delivery-detail.ts';
import { deliveryRow } from '../../views/delivery-row.ts';
import type { ReceiverState } from '../../views/receivers.ts';
import { periodOf, readMoment } from '../http/moment.ts';
import { NO_STORE } from '../http/no-store.ts';
import { nextPageAfter } from '../http/paging.ts';
import type { Answer } from '../http/route.ts';
import type { AdminServices, At } from './services.ts';
import { shownTo } from './shown.ts';

type Services = Pick<AdminServices, 'receivers' | 'deliveries' | 'deliveryLog' | 'applications'>;

type AtDelivery = At<'applicationId' | 'deliveryId'>;

const utc = (micros: number | null): string | null => (micros === null ? null : toUtc(micros));

const receiverBody = (row: ReceiverState): Receiver => ({
  ...row,
  oldestDueAt: utc(row.oldestDueAt),
  failingSince: utc(row.failingSince),
  nextAttemptAt: utc(row.nextAttemptAt),
  hours: { ...row.hours, since: toUtc(row.hours.since) },
});

/** Makes the value of a receiver for the feed, with the key that tells the feed's readers which receiver it is. */
export const keyedReceiver = (row: ReceiverState) => ({
  key: `${row.applicationId} ${row.setting}`,
  value: receiverBody(row),
});

/** Lists the states of webhook receivers. */
export async function listReceivers(
  { receivers }: Services,
  input: At<never, never, 'admin/receiver-query'>,
): Promise<Answer> {
  const { rows, next } = await receivers.list(input.query);
  const body: SchemaTypes['admin/receiver-list'] = {
    receivers: rows.map((row) => shownTo(input.caller).receiver(receiverBody(row))),
  };
  const link = next === undefined ? {} : nextPageAfter(input, input.query, { after: next });
  return { status: 200, headers: { ...NO_STORE, ...link }, body };
}

/** Lists webhook deliveries of all applications, newest first. */
export async function listAllDeliveries(
  { deliveries }: Services,
  input: At<never, never, 'admin/delivery-query'>,
): Promise<Answer> {
  const { since: _since, until: _until, ...query } = input.query;
  const { rows, next } = await deliveries.list({ ...query, ...periodOf(input.query) });
  const body: SchemaTypes['common/delivery-row-list'] = {
    deliveries: rows.map(deliveryRow).map(shownTo(input.caller).deliveryRow),
  };
  const link = next === undefined ? {} : nextPageAfter(input, input.query, { after: next });
  // Not cached, because the URL of a receiver may hold a token.
  return { status: 200, headers: { ...NO_STORE, ...link }, body };
}

/** Reads a delivery with its body, in which secrets are hidden, and the results of its failed attempts. */
export async function readDelivery({ deliveryLog }: Services, { params, caller }: AtDelivery): Promise<Answer> {
  const delivery = await deliveryLog.find(params.applicationId, params.deliveryId);
  const { body: sent, answer: answered, failedAttempts, ...about } = deliveryDetail(delivery);
  const body: SchemaTypes['common/delivery-detail'] = {
    ...about,
    body: textWithoutSecrets(sent),
    answer: answered === null ? null : textWithoutSecrets(answered),
    // The signatures in the headers are no secrets: nobody can make another one from them.
    failedAttempts: failedAttempts.map(({ headers, ...attempt }) => ({ ...withoutSecrets(attempt), headers })),
  };
  return { status: 200, headers: NO_STORE, body: shownTo(caller).delivery(body) };
}

/** Sends a delivery again. */
export async function redeliverOne({ deliveryLog }: Services, { params }: AtDelivery): Promise<Answer> {
  await deliveryLog.redeliver(params.applicationId, params.deliveryId);
  return { status: 202 };
}

/** Sends the deliveries of a time range again. */
export async function redeliverSome(
  { applications, deliveryLog }: Services,
  { params, body, changed }: At<'applicationId', 'admin/redelivery-range'>,
): Promise<Answer> {
  const { since, until, dryRun, ...filter } = body;
  const range = {
    ...filter,
    since: since === undefined ? 0 : readMoment(since, 'body', 'since'),
    until: until === undefined ? Number.MAX_SAFE_INTEGER : readMoment(until, 'body', 'until'),
  };
  await applications.findCounted(params.applicationId);
  if (dryRun) {
    const counted = await deliveryLog.countRange(params.applicationId, range);
    await changed({ dryRun, counted });
    return { status: 202, body: { redelivered: counted } };
  }
  const redelivered = await deliveryLog.redeliverRange(params.applicationId, range);
  await changed({ redelivered });
  return { status: 202, body: { redelivered } };
}

/** Sends a test event to a receiver. */
export async function testReceiver(
  { applications, deliveryLog }: Services,
  { params, body }: At<'applicationId', 'rest/webhook-test'>,
): Promise<Answer> {
  await applications.findCounted(params.applicationId);
  return { status: 202, body: { deliveryId: await deliveryLog.test(params.applicationId, body.setting) } };
}
