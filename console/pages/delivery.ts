import { button, details, div, dl, p, pre, span, summary, use, type VNode } from '../base/elements.ts';
import { useEvery } from '../base/every.ts';
import { duration, visible } from '../base/format.ts';
import { useLoad } from '../base/load.ts';
import { addressOf, ROLE } from '../base/place.ts';
import { operation, read } from '../base/requests.ts';
import type { DeliveryDetail } from '../base/rows.ts';
import { mayChange } from '../base/session.ts';
import { deliveryBadge } from '../parts/badges.ts';
import { lastAnswer } from '../parts/delivery-rows.ts';
import { act } from '../parts/dialog.ts';
import { head } from '../parts/head.ts';
import { json } from '../parts/json.ts';
import { loaded } from '../parts/loaded.ts';
import { named } from '../parts/named.ts';
import { card, fact, id, idLink, moment, outside, said, until } from '../parts/show.ts';
import { rowsTable } from '../parts/table.ts';
import { headerLines, sendTest } from './test-event.ts';
import { redeliver } from './webhooks.ts';

type Attempt = DeliveryDetail['failedAttempts'][number];

const attempts = (rows: readonly Attempt[]): VNode =>
  rowsTable({
    label: 'Failed attempts',
    rows,
    keyOf: ({ attempt, at: time }) => `${attempt} ${time}`,
    columns: [
      { name: 'Attempt', kind: 'lead', cell: ({ attempt }) => `No. ${attempt}` },
      { name: 'At', kind: 'short', cell: ({ at: time }) => moment(time) },
      { name: 'Duration', kind: 'short', cell: ({ durationMs }) => duration(durationMs) },
      {
        name: 'Result',
        cell: ({ statusCode, error, answer, headers }) =>
          div(
            { class: 'stack tight' },
            span({ class: 'fault' }, said(lastAnswer({ lastStatusCode: statusCode, lastError: error }))),
            answer ? details(null, summary(null, 'Answer'), json(answer)) : null,
            Object.keys(headers).length === 0
              ? null
              : details(null, summary(null, 'Headers of the request'), json(headerLines(headers))),
          ),
      },
    ],
  });

/** The beginning of the last answer, if it was kept. */
const answerOf = ({ answer, status, failedAttempts }: DeliveryDetail): string | null =>
  answer ?? (status === 'delivered' ? null : (failedAttempts[0]?.answer ?? null));

function OneDelivery({ applicationId, deliveryId }: { applicationId: string; deliveryId: string }) {
  const delivery = useLoad(deliveryId, (signal) =>
    read<DeliveryDetail>(operation('readDelivery', { applicationId, deliveryId }), { signal }),
  );
  const { value: row } = delivery.state.value;
  // The feed has no topic for a single delivery, so a pending one is read again and again.
  useEvery(row?.status === 'pending' ? 2_000 : undefined, delivery.again);
  const sendAgain = (): void =>
    act(async () => {
      await redeliver(applicationId, deliveryId);
      delivery.again();
      return 'The delivery is sent again.';
    });
  return [
    head({
      title: row ? row.type : 'Delivery',
      trail: [[addressOf(['webhooks'], { log: 'all' }), 'Webhooks']],
      state: row ? deliveryBadge(row.status) : null,
      about: id(deliveryId),
      actions:
        row && mayChange('application', 'redeliverOne')
          ? [
              button({ type: 'button', class: 'main', onClick: sendAgain }, 'Send again'),
              button({ type: 'button', onClick: () => sendTest(applicationId, row.setting) }, 'Test the receiver'),
            ]
          : null,
    }),
    loaded(delivery, (value) => [
      div(
        { class: 'columns' },
        card(
          { title: 'Details', bare: true },
          dl(
            { class: 'facts' },
            fact('Application', ROLE === 'operator' ? named('applications', applicationId) : id(applicationId)),
            fact('Setting', said(value.setting)),
            fact('URL', outside(value.url)),
            value.deviceId === null
              ? null
              : fact('Device', idLink(addressOf(['devices', value.deviceId]), value.deviceId)),
            value.transactionId === null
              ? null
              : fact('Transaction', idLink(addressOf(['transactions', value.transactionId]), value.transactionId)),
            fact('Created', moment(value.createdAt)),
            fact('Attempts', String(value.attempts)),
            value.status === 'delivered' ? fact('Delivered', moment(value.updatedAt)) : null,
            value.nextAttemptAt === null ? null : fact('Next attempt', until(value.nextAttemptAt)),
          ),
        ),
        card(
          { title: 'Answer', bare: true },
          dl(
            { class: 'facts' },
            fact('Last answer', lastAnswer(value) === '' ? 'none yet' : said(lastAnswer(value))),
            value.failedAttempts[0] === undefined || value.status === 'delivered'
              ? null
              : fact('Took', duration(value.failedAttempts[0].durationMs)),
          ),
          answerOf(value) === null ? null : div({ class: 'pad' }, json(answerOf(value))),
        ),
      ),
      card(
        { title: 'Request', side: span({ class: 'quiet small' }, 'of the last attempt, as it was signed and sent') },
        div(
          { class: 'stack tight' },
          Object.keys(value.headers).length === 0
            ? p({ class: 'quiet' }, 'Nothing was sent yet.')
            : json(`POST ${value.url ?? ''}\n${headerLines(value.headers)}`),
          json(value.body),
          details(
            null,
            summary(null, 'The body as it is sent, without line breaks'),
            pre({ class: 'json', tabIndex: 0 }, visible(value.body)),
          ),
        ),
        ROLE === 'operator'
          ? p(
              { class: 'small quiet' },
              'Secrets in the body are hidden from operators, and sent as they are: the signatures are of the body as it is sent.',
            )
          : null,
      ),
      card(
        { title: 'Failed attempts', bare: true },
        value.failedAttempts.length === 0
          ? p({ class: 'pad quiet' }, 'No attempt failed.')
          : attempts(value.failedAttempts),
      ),
    ]),
  ];
}

export const deliveryPage = (applicationId: string, deliveryId: string): VNode =>
  use(OneDelivery, { applicationId, deliveryId, key: deliveryId });
