import type { SchemaTypes } from '@lapel/schemas/contracts/types';
import { data } from '../foreign.ts';
import { readPage, showRows } from '../pages.ts';
import { inTwoSteps, PROPOSAL } from '../proposal.ts';
import { time } from '../times.ts';
import { CURSOR, TEXT, tool } from '../tool.ts';
import { hostOf, showAttempts } from '../tools/webhooks.ts';

type Receiver = SchemaTypes['admin/receiver-list']['receivers'][number];
type Row = SchemaTypes['common/delivery-row-list']['deliveries'][number];
type Detail = SchemaTypes['common/delivery-detail'];

const receiverLine = (one: Receiver): string =>
  [
    `- ${one.applicationId} ${data(one.applicationName, 60)} of ${one.developerId} (${one.setting}) at ${hostOf(one.url)}: ${one.state}`,
    `${one.pending} pending`,
    one.failingSince !== null && `failing since ${time(one.failingSince)}`,
    one.lastError !== null && `last answer ${one.lastStatusCode ?? 'none'} ${data(one.lastError, 120)}`,
    one.nextAttemptAt !== null && `next attempt ${time(one.nextAttemptAt)}`,
  ]
    .filter(Boolean)
    .join(', ');

const deliveryLine = (row: Row): string =>
  `- ${row.deliveryId} of ${row.applicationId} ${data(row.type, 60)}: ${row.status}, ${row.attempts} attempts, last answer ${row.lastStatusCode ?? 'none'} ${data(row.lastError, 100)}, created ${time(row.createdAt)}`;

export const webhooks = tool<{ state?: string; applicationId?: string; status?: string; cursor?: string }>({
  name: 'webhooks',
  title: 'Whose webhooks do not arrive?',
  description:
    'Whose webhooks do not arrive, since when, and what did the receiver answer? Lists the receivers of all customers, those that fail first; with applicationId the deliveries of one application by status.',
  properties: {
    state: {
      enum: ['healthy', 'retrying', 'slow', 'failing'],
      description: 'Only receivers in this state; by default failing.',
    },
    applicationId: TEXT('The deliveries of this application.', 128),
    status: { enum: ['pending', 'delivered', 'exhausted', 'gone'], description: 'With applicationId.' },
    cursor: CURSOR,
  },
  async run(session, { state = 'failing', applicationId, status, cursor }, report) {
    if (applicationId !== undefined) {
      const query = { applicationId, status, limit: 25 };
      const page = await readPage<Row>(session, 'listAllDeliveries', { list: 'deliveries', cursor, query });
      const [failed] = page.rows.filter(({ attempts, lastError }) => attempts > 0 && lastError !== null);
      if (failed) {
        const params = { applicationId: failed.applicationId, deliveryId: failed.deliveryId };
        report.say(`Answers of the receiver to ${failed.deliveryId}:`);
        showAttempts(await session.ask<Detail>('readDelivery', { params }), report, 3);
      }
      if (page.rows.length === 0) report.say('No delivery is listed.');
      showRows(report, page, deliveryLine);
      return;
    }
    const page = await readPage<Receiver>(session, 'listReceivers', {
      list: 'receivers',
      cursor,
      query: { state, limit: 25 },
    });
    report.say(page.rows.length === 0 && `No receiver is ${state}.`, `Console: ${session.link('webhooks')}`);
    showRows(report, page, receiverLine);
  },
});

const NAME = 'redeliver';

export const redeliver = tool<{ applicationId: string; deliveryId: string; proposal?: string }>({
  name: NAME,
  title: 'Send a webhook again',
  description:
    'Redeliver: send one webhook of an application again. Two calls: the first proposes, the second confirms.',
  writes: 'support',
  properties: {
    applicationId: TEXT('The application.', 128),
    deliveryId: TEXT('The delivery.', 64),
    proposal: PROPOSAL,
  },
  required: ['applicationId', 'deliveryId'],
  run: (session, { proposal, ...params }, report) =>
    inTwoSteps(session, report, {
      tool: NAME,
      given: params,
      proposal,
      what: `send the webhook ${data(params.deliveryId, 64)} of ${data(params.applicationId, 128)} again`,
      async look() {
        const found = await session.ask<Detail>('readDelivery', { params });
        return {
          effect: { deliveries: 1, attemptsSoFar: found.attempts },
          lines: [`It is ${found.status}, to ${hostOf(found.url)}.`],
        };
      },
      async act() {
        await session.ask('redeliverOne', { params, via: { assistant: session.assistant, tool: NAME } });
        return [
          'Done: the webhook is sent again.',
          `Console: ${session.link('webhooks', params.applicationId, params.deliveryId)}`,
        ];
      },
    }),
});
