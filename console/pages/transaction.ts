import { a, button, type Child, div, dl, li, ol, p, small, span, time, use, type VNode } from '../base/elements.ts';
import { useEvery } from '../base/every.ts';
import { whenExactly } from '../base/format.ts';
import { useLoad } from '../base/load.ts';
import { addressOf, ROLE } from '../base/place.ts';
import { operation, read, send } from '../base/requests.ts';
import type { TransactionDetail } from '../base/rows.ts';
import { mayChange } from '../base/session.ts';
import { useWatch } from '../base/watching.ts';
import { deliveryBadge, isFinished, transactionBadge } from '../parts/badges.ts';
import { act, ask } from '../parts/dialog.ts';
import { head } from '../parts/head.ts';
import { json } from '../parts/json.ts';
import { loaded } from '../parts/loaded.ts';
import { bareId, card, fact, gapOf, id, idLink, nothing, outside, said, since, until } from '../parts/show.ts';
import { operationName, renewed } from '../parts/transaction-rows.ts';
import { redeliver } from './webhooks.ts';

interface Stage {
  name: string;
  about: Child;
  at: string | null;
  /** The time that has passed since the stage before. */
  gap: string | null;
  state: 'done' | 'now' | 'open' | 'bad' | 'skipped';
}

/** The codes with which the service itself ends a transaction whose time has passed. */
const EXPIRED = new Set(['EXPIRED', 'NO_ANSWER']);

const faultOf = ({ code, message }: NonNullable<TransactionDetail['error']>): Child =>
  span({ class: 'fault' }, `${code}: `, said(message));

/** The terms of the command: the times in which it must be delivered and answered. */
const terms = ({ status, expiresAt, answerWithin, answerBy, supersededBy }: TransactionDetail): Child => [
  expiresAt === undefined
    ? null
    : fact(
        'Deliver by',
        status === 'queued' ? until(expiresAt) : time({ dateTime: expiresAt }, whenExactly(expiresAt)),
      ),
  answerWithin === undefined ? null : fact('Answer within', span({ class: 'num' }, `${answerWithin} s`)),
  answerBy === undefined
    ? null
    : fact('Answer by', isFinished(status) ? time({ dateTime: answerBy }, whenExactly(answerBy)) : until(answerBy)),
  supersededBy === undefined
    ? null
    : fact('Superseded by', idLink(addressOf(['transactions', supersededBy]), String(supersededBy))),
];

/** The result that the device sent after the service itself had ended the transaction. */
const lateResult = (late: NonNullable<TransactionDetail['late']>): VNode =>
  card(
    {
      title: 'Late result of the device',
      side: span({ class: 'quiet small' }, time({ dateTime: late.at, title: late.at }, whenExactly(late.at))),
    },
    p(null, transactionBadge(late.status, null), ' after the end of the transaction; it changed nothing'),
    late.error === undefined ? null : p(null, faultOf(late.error)),
    late.result === undefined ? null : json(late.result),
  );

/** The five stages of a transaction. The text of a stage says when it was left out or is not reached yet. */
function stagesOf(row: TransactionDetail): Stage[] {
  const { createdAt, publishedAt, deliveredAt, completedAt, status, error, webhook, attempts } = row;
  const isOver = isFinished(status);
  const wasStopped = status === 'cancelled' || EXPIRED.has(error?.code ?? '');
  const acknowledgedAt = wasStopped ? null : completedAt;
  const stage = (
    name: string,
    at: string | null,
    before: string | null,
    open: Child,
    done: Child,
    isNow: boolean,
  ): Stage => ({
    name,
    at,
    gap: gapOf(before, at),
    about: at !== null ? done : isOver ? 'left out' : open,
    state: at !== null ? 'done' : isOver ? 'skipped' : isNow ? 'now' : 'open',
  });
  const end: Stage = wasStopped
    ? {
        name: status === 'cancelled' ? 'Cancelled' : 'Expired',
        at: completedAt,
        gap: gapOf(deliveredAt ?? publishedAt ?? createdAt, completedAt),
        about: error === null ? 'before the device finished it' : faultOf(error),
        state: 'bad',
      }
    : {
        ...stage(
          'Acknowledged',
          acknowledgedAt,
          deliveredAt ?? publishedAt,
          deliveredAt === null
            ? 'when the device has finished or failed'
            : 'the device has the command and works on it',
          status,
          deliveredAt !== null || status === 'processing',
        ),
        ...(error && {
          state: 'bad' as const,
          about: faultOf(error),
        }),
      };
  const isSent = webhook?.status === 'delivered';
  const told: Stage = {
    name: 'Webhook',
    at: isSent ? webhook.updatedAt : null,
    gap: isSent ? gapOf(completedAt, webhook.updatedAt) : null,
    about: !webhook
      ? isOver
        ? 'no longer kept'
        : 'sends the result to the application'
      : [
          deliveryBadge(webhook.status),
          ' ',
          webhook.nextAttemptAt ? ['next attempt ', until(webhook.nextAttemptAt)] : null,
          ' ',
          said(webhook.lastError ?? (webhook.lastStatusCode === null ? '' : `answered ${webhook.lastStatusCode}`)),
        ],
    state: !webhook ? (isOver ? 'skipped' : 'open') : isSent ? 'done' : webhook.status === 'pending' ? 'now' : 'bad',
  };
  return [
    stage('Queued', createdAt, null, '', 'stored in the database', false),
    stage(
      'Published',
      publishedAt,
      createdAt,
      'as soon as the device is connected',
      attempts > 1 ? `on ${attempts} connections` : 'to the device',
      publishedAt === null,
    ),
    stage(
      'PUBACK',
      deliveredAt,
      publishedAt,
      'the device has not confirmed it yet',
      'the device has the command',
      publishedAt !== null,
    ),
    end,
    told,
  ];
}

const stages = (row: TransactionDetail): VNode =>
  ol(
    { class: 'stages' },
    stagesOf(row).map(({ name, about, at, gap, state }) =>
      li(
        { key: name, class: `is-${state}`, 'data-stage': name },
        span({ class: 'dot', 'aria-hidden': 'true' }),
        span(
          { class: 'name' },
          name,
          span({ class: 'unseen' }, state === 'done' ? ': done' : state === 'bad' ? ': failed' : ': not yet'),
        ),
        span({ class: 'at' }, at === null ? nothing() : time({ dateTime: at, title: at }, whenExactly(at))),
        span({ class: 'gap' }, about, gap === null ? null : span({ class: 'num' }, ` · after ${gap}`)),
      ),
    ),
  );

function OneTransaction({ transactionId }: { transactionId: string }) {
  const transaction = useLoad(transactionId, (signal) =>
    read<TransactionDetail>(
      operation({ operator: 'readFleetTransaction', application: 'readOwnTransaction' }, { transactionId }),
      { signal },
    ),
  );
  useWatch(`transactions:${transactionId}`, ({ key, value }) => {
    if (key !== transactionId) return;
    const known = transaction.state.peek().value;
    transaction.change((row) => ({ ...row, ...renewed([row], key, value)[0] }));
    // A change in the feed has neither the result nor the state of the webhook, so the whole transaction is read again.
    if (known && isFinished((value as Partial<TransactionDetail>).status ?? known.status)) transaction.again();
  });
  const { value: row } = transaction.state.value;
  // The feed does not report the states of webhooks, so the transaction is read again until its webhook is delivered or
  // given up.
  const webhookPending = row && isFinished(row.status) && row.webhook?.status === 'pending';
  useEvery(webhookPending ? 1_000 : undefined, transaction.again);
  const cancel = (): void =>
    ask({
      title: `Cancel transaction ${transactionId}?`,
      text: 'If the device already has the command, it gets a cancellation. The application gets a webhook.',
      does: 'Cancel the transaction',
      isBad: true,
      async act() {
        await send(
          operation(
            { operator: 'cancelFleetTransaction', application: 'cancelTransaction' },
            { deviceId: row!.deviceId, transactionId },
          ),
        );
        transaction.again();
        return `Transaction ${transactionId} was cancelled.`;
      },
    });
  const sendAgain = (): void =>
    act(async () => {
      const { applicationId, deliveryId } = row!.webhook!;
      await redeliver(applicationId, deliveryId);
      transaction.again();
      return 'The webhook is sent again.';
    });
  return [
    head({
      title: row ? `${operationName(row.operation)} ${transactionId}` : `Transaction ${transactionId}`,
      copied: transactionId,
      trail: [[addressOf(['transactions']), 'Transactions']],
      state: row ? transactionBadge(row.status, row.progress) : null,
      about: row?.subject ? said(row.subject) : null,
      actions: row
        ? [
            !isFinished(row.status) && mayChange('device')
              ? button({ type: 'button', class: 'bad', onClick: cancel }, 'Cancel')
              : null,
            row.webhook && isFinished(row.status) && mayChange('application')
              ? button({ type: 'button', onClick: sendAgain }, 'Send the webhook again')
              : null,
          ]
        : null,
    }),
    loaded(transaction, (value) => [
      div(
        { class: 'columns' },
        card(
          {
            title: 'Progress',
            side: isFinished(value.status)
              ? span({ class: 'quiet small num' }, `${gapOf(value.createdAt, value.completedAt) ?? ''} in total`)
              : span({ class: 'quiet small' }, 'for ', since(value.createdAt)),
          },
          stages(value),
        ),
        card(
          { title: 'Details', bare: true },
          dl(
            { class: 'facts' },
            fact('Device', idLink(addressOf(['devices', value.deviceId]), value.deviceId)),
            fact(
              'Application',
              ROLE === 'operator'
                ? idLink(addressOf(['applications', value.applicationId]), value.applicationId)
                : id(value.applicationId),
            ),
            value.rolloutId === undefined
              ? null
              : fact('Rollout', idLink(addressOf(['rollouts', value.rolloutId]), value.rolloutId)),
            fact('Attempts', String(value.attempts)),
            value.traceId === undefined ? null : fact('Trace', id(value.traceId)),
            value.progress === null ? null : fact('Progress', `${value.progress} %`),
            value.warning === null ? null : fact('Warning', said(value.warning.message)),
            value.error === null
              ? null
              : fact(
                  'Error',
                  div({ class: 'fault' }, id(value.error.code), small(null, ' ', said(value.error.message))),
                ),
            terms(value),
            value.webhook
              ? fact('Webhook', [
                  a(
                    { href: addressOf(['webhooks', value.applicationId, value.webhook.deliveryId]) },
                    bareId(value.webhook.deliveryId),
                  ),
                  outside(value.webhook.url),
                ])
              : null,
          ),
        ),
      ),
      div(
        { class: 'columns' },
        card(
          { title: 'Parameters' },
          value.parameters === null
            ? p(
                { class: 'quiet' },
                'Parameters are deleted when a transaction ends, because they can contain passwords.',
              )
            : json(value.parameters),
        ),
        card(
          { title: 'Result of the device' },
          value.result === null
            ? p({ class: 'quiet' }, isFinished(value.status) ? 'The device sent no result.' : 'There is no result yet.')
            : json(value.result),
        ),
        value.late === undefined ? null : lateResult(value.late),
      ),
    ]),
  ];
}

export const transactionPage = (transactionId: string): VNode =>
  use(OneTransaction, { transactionId, key: transactionId });
