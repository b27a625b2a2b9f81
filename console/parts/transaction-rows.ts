import { TRANSACTION_OPERATIONS } from '../base/contract.ts';
import { a, type Child, div, small, span, type VNode } from '../base/elements.ts';
import { operationName } from '../base/operation-names.ts';
import { addressOf, ROLE } from '../base/place.ts';
import type { TransactionRow } from '../base/rows.ts';
import { isFinished, transactionBadge } from './badges.ts';
import { nameAlone } from './named.ts';
import { age, breakable, gapOf, id, idLink, nothing, said, since } from './show.ts';
import type { Column } from './table.ts';

export const OPERATIONS: readonly (readonly [value: string, words: string])[] = TRANSACTION_OPERATIONS.map(
  (operation) => [operation, operationName(operation)],
);

/** The error or warning of a transaction. */
const fault = ({ error, warning }: TransactionRow): Child => [
  error === null ? null : small({ class: 'fault' }, breakable(error.code), ': ', said(error.message)),
  warning === null ? null : small(null, said(warning.message)),
];

const took = ({ createdAt, completedAt }: TransactionRow): Child =>
  completedAt === null ? since(createdAt) : span({ class: 'num' }, gapOf(createdAt, completedAt));

interface Shown {
  /** True in lists of one device, where the column of the device is left out. */
  ofDevice?: boolean;
  /** The head of the time of creation, in a list that is sorted by it. */
  created?: Pick<Column<unknown>, 'head' | 'sorted'>;
}

export const transactionColumns = ({ ofDevice = false, created }: Shown = {}): Column<TransactionRow>[] => [
  {
    name: 'Transaction',
    kind: 'lead',
    cell: ({ transactionId, operation, subject, rolloutId }) => [
      a({ href: addressOf(['transactions', transactionId]) }, operationName(operation)),
      span({ class: 'quiet' }, ' ', id(transactionId)),
      subject === null && rolloutId === undefined
        ? null
        : small(
            null,
            subject === null ? null : said(subject),
            subject === null || rolloutId === undefined ? null : ' · ',
            rolloutId === undefined ? null : a({ href: addressOf(['rollouts', rolloutId]) }, 'rollout'),
          ),
    ],
  },
  ...(ofDevice ? [] : [deviceColumn]),
  { name: 'State', cell: (row) => div(null, transactionBadge(row.status, row.progress), fault(row)) },
  { name: 'Created', kind: 'short', ...created, cell: ({ createdAt }) => age(createdAt) },
  { name: 'Duration', kind: 'short', cell: took },
  {
    name: 'Attempts',
    kind: 'right',
    cell: ({ attempts }) => (attempts === 0 ? nothing() : String(attempts)),
    isEmpty: ({ attempts }) => attempts === 0,
  },
];

const deviceColumn: Column<TransactionRow> = {
  name: 'Device',
  cell: ({ deviceId, applicationId }): VNode =>
    div(
      null,
      span({ class: 'nowrap' }, idLink(addressOf(['devices', deviceId]), deviceId)),
      ROLE === 'operator' ? small(null, nameAlone('applications', applicationId)) : null,
    ),
};

/**
 * Replaces the row of a transaction by its newer state from the feed. An unfinished state that arrives after the
 * finished one is older, and is ignored.
 */
export function renewed(rows: readonly TransactionRow[], key: string, value: unknown): TransactionRow[] {
  const change = value as Partial<TransactionRow>;
  return rows.map((row) => {
    if (String(row.transactionId) !== key) return row;
    if (isFinished(row.status) && change.status !== undefined && !isFinished(change.status)) return row;
    return { ...row, ...change };
  });
}
