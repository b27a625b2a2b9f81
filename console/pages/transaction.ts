import { a, button, type Child, div, dl, p, small, span, time, use, type VNode } from '../base/elements.ts';
import { whenExactly } from '../base/format.ts';
import { operationName } from '../base/operation-names.ts';
import { addressOf, ROLE } from '../base/place.ts';
import { operation, send } from '../base/requests.ts';
import type { TransactionDetail } from '../base/rows.ts';
import { mayChange } from '../base/session.ts';
import { isFinished, transactionBadge } from '../parts/badges.ts';
import { act, ask } from '../parts/dialog.ts';
import { head } from '../parts/head.ts';
import { json } from '../parts/json.ts';
import { loaded } from '../parts/loaded.ts';
import { named } from '../parts/named.ts';
import { bareId, card, fact, gapOf, id, idLink, outside, said, since, until } from '../parts/show.ts';
import { faultOf, stages, useTransaction } from '../parts/stages.ts';
import { uploadedFiles } from '../parts/uploaded-files.ts';
import { redeliver } from './webhooks.ts';

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
function OneTransaction({ transactionId }: { transactionId: string }) {
  const transaction = useTransaction(transactionId);
  const { value: row } = transaction.state.value;
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
            !isFinished(row.status) && mayChange('device', 'cancelFleetTransaction')
              ? button({ type: 'button', class: 'bad', onClick: cancel }, 'Cancel')
              : null,
            row.webhook && isFinished(row.status) && mayChange('application', 'redeliverOne')
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
              ROLE === 'operator' ? named('applications', value.applicationId) : id(value.applicationId),
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
            : [value.operation === 'collectDiagnostics' ? uploadedFiles(value.result) : null, json(value.result)],
        ),
        value.late === undefined ? null : lateResult(value.late),
      ),
    ]),
  ];
}

export const transactionPage = (transactionId: string): VNode =>
  use(OneTransaction, { transactionId, key: transactionId });
