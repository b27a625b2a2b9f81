import type { SchemaTypes } from '@lapel/schemas/contracts/types';
import { data } from '../foreign.ts';
import { readPage, showRows } from '../pages.ts';
import type { Report } from '../report.ts';
import { momentOf, time } from '../times.ts';
import { CURSOR, SINCE, TEXT, tool } from '../tool.ts';

type Row = SchemaTypes['rest/delivery-list']['deliveries'][number];
type Detail = SchemaTypes['common/delivery-detail'];

/** The host of a URL. The rest of it may hold a token. */
export const hostOf = (url: string | null): string => data(url === null ? null : (URL.parse(url)?.host ?? ''), 80);

const answered = (status: number | null, error: string | null): string =>
  `answer ${status ?? 'none'}${error === null ? '' : `, ${data(error, 120)}`}`;

const rowOf =
  (zone: string | undefined) =>
  (row: Row): string =>
    [
      `- ${row.deliveryId} ${data(row.type, 60)} (${row.setting}) to ${hostOf(row.url)}: ${row.status}`,
      `${row.attempts} attempts, last ${answered(row.lastStatusCode, row.lastError)}`,
      row.nextAttemptAt !== null && `next attempt ${time(row.nextAttemptAt, zone)}`,
      row.deviceId !== null && `device ${row.deviceId}`,
      row.transactionId !== null && `command ${row.transactionId}`,
      `created ${time(row.createdAt, zone)}`,
    ]
      .filter(Boolean)
      .join(', ');

/** The answers of the receiver to the attempts of a delivery. */
export function showAttempts({ failedAttempts }: Pick<Detail, 'failedAttempts'>, report: Report, most = 8): void {
  for (const { attempt, at, statusCode, error, durationMs, answer } of failedAttempts.slice(0, most)) {
    const said = answer === null ? '' : `, the receiver answered ${data(answer, 240)}`;
    if (!report.row(`- attempt ${attempt} ${time(at)}: ${answered(statusCode, error)}, ${durationMs} ms${said}`)) break;
  }
}

export const webhooks = tool<{ status?: string; setting?: string; since?: string; cursor?: string }>({
  name: 'webhooks',
  title: 'Do the webhooks arrive?',
  description:
    'Which webhooks do not arrive, at which receiver or endpoint, since when, and what did the receiver answer? Shows the state of each endpoint and lists deliveries by status: pending, exhausted (given up), delivered.',
  properties: {
    status: { enum: ['pending', 'delivered', 'exhausted', 'gone'], description: 'By default pending, then exhausted.' },
    setting: { enum: ['deviceEvent', 'callEvent', 'callFileSendEvent', 'fileUploadEvent'] },
    since: SINCE,
    cursor: CURSOR,
  },
  async run(session, { status, setting, since, cursor }, report) {
    const list = 'deliveries';
    const moment = momentOf(since, session.now());
    const { zone } = session;
    const pageOf = (wanted: string | undefined, limit: number, at = cursor) =>
      readPage<Row>(session, 'listDeliveries', {
        list,
        cursor: at,
        query: { status: wanted, setting, since: moment, limit },
      });
    if (cursor !== undefined || status !== undefined) {
      const page = await pageOf(status, 25);
      if (page.rows.length === 0) report.say('No delivery is listed.');
      showRows(report, page, rowOf(zone));
      return;
    }
    const { endpoints, settings } = await session.ask<SchemaTypes['rest/endpoint-list']>('listEndpoints');
    for (const { setting: name, url } of settings) if (url !== null) report.say(`Receiver of ${name}: ${hostOf(url)}.`);
    for (const one of endpoints) {
      const { state } = one;
      report.say(
        `Endpoint ${one.endpointId} ${data(one.description, 60)} to ${hostOf(one.url)}: ${one.enabled ? 'enabled' : `disabled (${one.disabledReason ?? 'asked'})`}, ${one.failingSince === null ? 'takes events' : `failing since ${time(one.failingSince, zone)}`}, ${state.pending} pending, ${state.blocked} blocked, ${state.behind} behind, ${state.failed} failed attempts in 24 hours, last ${answered(one.lastStatusCode, one.lastError)}.`,
      );
    }
    const [pending, exhausted] = [await pageOf('pending', 25), await pageOf('exhausted', 25)];
    const count = ({ rows, next }: typeof pending): string => `${rows.length}${next === undefined ? '' : ' or more'}`;
    report.say(
      `${count(pending)} deliveries are pending, ${count(exhausted)} are exhausted (given up).`,
      `Console: ${session.link('webhooks')}`,
    );
    const failing = [...pending.rows.filter(({ attempts }) => attempts > 0), ...exhausted.rows];
    const [newest] = failing;
    if (newest) {
      const params = { deliveryId: newest.deliveryId };
      report.say(`Answers of the receiver to ${newest.deliveryId}:`);
      showAttempts(await session.ask<Detail>('readDelivery', { params }), report, 3);
    }
    for (const row of failing) if (!report.row(rowOf(zone)(row))) break;
    if (failing.length === 0) report.say('No delivery has a failed attempt.');
  },
});

export const delivery = tool<{ deliveryId: string }>({
  name: 'delivery',
  title: 'Look at one webhook delivery',
  description:
    'Look at one webhook delivery with its deliveryId: its attempts, what the receiver answered to each, and the body of the event that was sent.',
  properties: { deliveryId: TEXT('The deliveryId.', 64) },
  required: ['deliveryId'],
  async run(session, { deliveryId }, report) {
    const found = await session.ask<Detail>('readDelivery', { params: { deliveryId } });
    report.say(
      `Delivery ${deliveryId} ${data(found.type, 60)} (${found.setting}) to ${hostOf(found.url)}: ${found.status} after ${found.attempts} attempts, last ${answered(found.lastStatusCode, found.lastError)}.`,
      `Created ${time(found.createdAt)}, changed ${time(found.updatedAt)}, next attempt ${time(found.nextAttemptAt)}.`,
      found.deviceId !== null && `Device ${found.deviceId}, command ${found.transactionId ?? 'none'}.`,
      `Console: ${session.link('webhooks', found.applicationId, deliveryId)}`,
      `Failed attempts (${found.failedAttempts.length}, the newest first):`,
    );
    showAttempts(found, report);
    report.say(`Body: ${data(found.body, 800)}`);
  },
});

export const events = tool<{ deviceId?: string; types?: string; cursor?: string }>({
  name: 'events',
  title: 'List events',
  description:
    'List the events of the application or of one device in the order of the stream: SOS, calls, recordings, results of commands (transaction.succeeded, transaction.failed), with what the device said in them.',
  properties: {
    deviceId: { type: 'string', pattern: '^[0-9]{15}$', description: 'Only of this device.' },
    types: TEXT('Types, separated by commas, such as custom.* or transaction.failed.', 512),
    cursor: CURSOR,
  },
  async run(session, { cursor, ...query }, report) {
    const place = session.placeOf(cursor);
    const {
      events: rows,
      next,
      more,
    } = await session.ask<SchemaTypes['rest/event-list']>('listEvents', {
      query: { ...query, after: place.after, from: 'oldest', limit: 30, wait: 0 },
    });
    if (rows.length === 0) report.say('No event is listed.');
    showRows(
      report,
      { rows, place, next: more ? String(next) : undefined },
      ({ sequence, type, timestamp, data: said }) =>
        `- ${sequence} ${time(timestamp)} ${data(type, 60)}: ${data(JSON.stringify(said), 200)}`,
    );
  },
});
