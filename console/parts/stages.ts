import { type Child, li, ol, span, time, type VNode } from '../base/elements.ts';
import { useEvery } from '../base/every.ts';
import { whenExactly } from '../base/format.ts';
import { type Loading, useLoad } from '../base/load.ts';
import { operation, read } from '../base/requests.ts';
import type { TransactionDetail } from '../base/rows.ts';
import { useWatch } from '../base/watching.ts';
import { deliveryBadge, isFinished } from './badges.ts';
import { lastAnswer } from './delivery-rows.ts';
import { gapOf, nothing, said, until } from './show.ts';
import { renewed } from './transaction-rows.ts';

/** Milliseconds between two looks at a webhook that is not delivered yet. */
const LOOK_MS = 1_000;

/** Reads a transaction, and follows it until its webhook is delivered or given up. */
export function useTransaction(transactionId: string): Loading<TransactionDetail> {
  const transaction = useLoad(`transaction ${transactionId}`, (signal) =>
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
  // The feed does not report the states of webhooks.
  const webhookPending = row && isFinished(row.status) && row.webhook?.status === 'pending';
  useEvery(webhookPending ? LOOK_MS : undefined, transaction.again);
  return transaction;
}

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

/** The error of a transaction, in words. */
export const faultOf = ({ code, message }: NonNullable<TransactionDetail['error']>): Child =>
  span({ class: 'fault' }, `${code}: `, said(message));

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
          lastAnswer(webhook) === '' ? null : [said(lastAnswer(webhook)), ' '],
          webhook.nextAttemptAt ? ['next attempt ', until(webhook.nextAttemptAt)] : null,
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

/** The five stages of a transaction, from its call to its webhook. */
export const stages = (row: TransactionDetail): VNode =>
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
