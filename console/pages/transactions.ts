import { useSignal } from '@preact/signals';
import { a, button, div, input, span, use, type VNode } from '../base/elements.ts';
import { counted } from '../base/format.ts';
import { type Loading, useLoad } from '../base/load.ts';
import { addressOf, place, ROLE } from '../base/place.ts';
import { operation, type Page, readPage, send } from '../base/requests.ts';
import type { TransactionRow } from '../base/rows.ts';
import { mayChange } from '../base/session.ts';
import { useWatch } from '../base/watching.ts';
import { isFinished } from '../parts/badges.ts';
import { columnsButton } from '../parts/choose-columns.ts';
import { ask } from '../parts/dialog.ts';
import { csvButton, EXPORT_LIMIT } from '../parts/export.ts';
import { asked, type Filter, filterBar, periodFilters } from '../parts/filters.ts';
import { head } from '../parts/head.ts';
import { loaded } from '../parts/loaded.ts';
import { pager } from '../parts/pager.ts';
import { card, empty } from '../parts/show.ts';
import { sortHead } from '../parts/sort-head.ts';
import { type Column, rowsTable } from '../parts/table.ts';
import { OPERATIONS, renewed, transactionColumns } from '../parts/transaction-rows.ts';

const LIMIT = 50;

const STATES = ['queued', 'delivered', 'processing', 'succeeded', 'failed', 'cancelled'] as const;
const FILTERS: readonly Filter[] = [
  { name: 'unfinished', label: 'Unfinished', choices: [['true', 'only unfinished']] },
  { name: 'operation', label: 'Operation', choices: OPERATIONS },
  { name: 'status', label: 'State', choices: STATES.map((state) => [state, state] as const) },
  {
    name: 'olderThan',
    label: 'Older than',
    choices: [
      ['10m', '10 minutes'],
      ['1h', 'an hour'],
      ['1d', 'a day'],
      ['7d', '7 days'],
    ],
  },
  { name: 'errorCode', label: 'Error code' },
  { name: 'package', label: 'Package' },
  { name: 'version', label: 'Version (needs a package)' },
  { name: 'warning', label: 'Warning', choices: [['true', 'with a warning']] },
  { name: 'deviceId', label: 'Device' },
  { name: 'rolloutId', label: 'Rollout' },
];
const filters = ROLE === 'operator' ? [...FILTERS, { name: 'applicationId', label: 'Application' }] : FILTERS;

interface Outcome {
  transactionId: number;
  cancelled: boolean;
  code?: string;
}

/** Cancels transactions; those that have finished meanwhile stay unchanged. Returns the number of cancelled ones. */
async function cancelAll(rows: readonly TransactionRow[]): Promise<number> {
  if (ROLE === 'operator') {
    const response = await send(operation('cancelFleetTransactions'), {
      json: { transactionIds: rows.map(({ transactionId }) => transactionId) },
    });
    return ((await response.json()) as { results: Outcome[] }).results.filter(({ cancelled }) => cancelled).length;
  }
  const done = await Promise.allSettled(
    rows.map(({ deviceId, transactionId }) => send(operation('cancelTransaction', { deviceId, transactionId }))),
  );
  return done.filter(({ status }) => status === 'fulfilled').length;
}

type Asked = Readonly<Record<string, string>>;

/** Whether the list has failures in the order of their ends, in which alone the service finds them. */
const isByEnd = ({ unfinished, warning, status, errorCode, deviceId, rolloutId }: Asked): boolean =>
  (status === 'failed' || errorCode !== undefined) &&
  unfinished !== 'true' &&
  warning !== 'true' &&
  deviceId === undefined &&
  rolloutId === undefined;

/** The order that a list has by itself. */
const usualOrder = ({ unfinished }: Asked): string => (unfinished === 'true' ? 'createdAt' : '-createdAt');

function titleOf(given: Asked): string {
  if (isByEnd(given)) return 'Failures, the last one first';
  const { sort = usualOrder(given), unfinished } = given;
  const order = sort === 'createdAt' ? 'oldest first' : 'newest first';
  return unfinished === 'true' ? `Unfinished, ${order}` : `${order.charAt(0).toUpperCase()}${order.slice(1)}`;
}

/** The columns, of which the time of creation sorts the list. */
function columns(given: Asked): Column<TransactionRow>[] {
  if (isByEnd(given)) return transactionColumns();
  const usual = usualOrder(given);
  const { sort = usual } = given;
  const other = sort === 'createdAt' ? '-createdAt' : 'createdAt';
  const sorted = sort === 'createdAt' ? 'ascending' : 'descending';
  return transactionColumns({ created: sortHead('Created', sorted, other === usual ? undefined : other) });
}

function none(): VNode {
  const { unfinished } = place.value.query;
  if (unfinished === 'true')
    return empty({ title: 'No unfinished transactions', text: 'All matching transactions have finished.' });
  return empty({
    title: 'No matching transactions',
    text: 'A transaction is created when an application sends a command to a device.',
  });
}

const CSV = [
  'transactionId',
  'deviceId',
  'applicationId',
  'operation',
  'subject',
  'status',
  'attempts',
  'progress',
  'createdAt',
  'publishedAt',
  'deliveredAt',
  'completedAt',
  'error',
  'warning',
  'deliveryId',
  'expiresAt',
  'rolloutId',
] as const satisfies readonly (keyof TransactionRow)[];

function Transactions() {
  const period = periodFilters();
  const given = asked([...[...filters, ...period].map(({ name }) => name), 'sort']);
  // A version without its package would be refused.
  const { version, sort, ...others } = given;
  const ordered = sort !== undefined && !isByEnd(given) && { sort };
  const query = {
    ...others,
    ...ordered,
    ...(version !== undefined && 'package' in given && { version }),
    limit: LIMIT,
  };
  const pageAfter = (after: string | undefined, limit: number, signal: AbortSignal): Promise<Page<TransactionRow>> =>
    readPage(operation({ operator: 'listFleetTransactions', application: 'listOwnTransactions' }), 'transactions', {
      query: { ...query, after, limit },
      signal,
    });
  const page: Loading<Page<TransactionRow>> = useLoad(JSON.stringify(query), (signal) =>
    pageAfter(others['after'], LIMIT, signal),
  );
  const chosen = useSignal<ReadonlySet<number>>(new Set());
  const news = useSignal<ReadonlySet<string>>(new Set());
  useWatch('transactions', ({ key, value }, first) => {
    const known = page.state.peek().value;
    if (!known) return;
    if (known.rows.some(({ transactionId }) => String(transactionId) === key))
      page.change((now) => ({ ...now, rows: renewed(now.rows, key, value) }));
    else if (!first && (value as TransactionRow).status === 'queued')
      news.value = new Set([...news.peek(), key].slice(-1000));
  });
  const rows = page.state.value.value?.rows ?? [];
  const selected = rows.filter(({ transactionId, status }) => chosen.value.has(transactionId) && !isFinished(status));
  const choose = (transactionId: number, isChosen: boolean): void => {
    const next = new Set(chosen.value);
    if (isChosen) next.add(transactionId);
    else next.delete(transactionId);
    chosen.value = next;
  };
  const ticks: Column<TransactionRow> = {
    name: '',
    head: span({ class: 'unseen' }, 'Select'),
    cell: ({ transactionId, status }) =>
      isFinished(status)
        ? null
        : input({
            type: 'checkbox',
            'aria-label': `Select transaction ${transactionId}`,
            checked: chosen.value.has(transactionId),
            onChange: (event) => choose(transactionId, event.currentTarget.checked),
          }),
  };
  const cancel = (): void =>
    ask({
      title: `Cancel ${counted(selected.length, 'transaction')}?`,
      text: 'A command that the device does not have yet is never sent. For a command that it has, the device gets a cancellation. The application gets a webhook for each transaction.',
      does: 'Cancel the transactions',
      isBad: true,
      async act() {
        const cancelled = await cancelAll(selected);
        chosen.value = new Set();
        page.again();
        return `${counted(cancelled, 'transaction')} cancelled${cancelled < selected.length ? `; ${selected.length - cancelled} had already finished` : ''}.`;
      },
    });
  const showNews = (): void => {
    news.value = new Set();
    page.again();
  };
  return [
    head({
      title: 'Transactions',
      actions: [
        ROLE === 'operator' ? a({ class: 'button', href: addressOf(['failures']), key: 'failures' }, 'Failures') : null,
        selected.length > 0
          ? button({ type: 'button', class: 'bad', onClick: cancel, key: 'cancel' }, `Cancel ${selected.length}`)
          : null,
      ],
    }),
    filterBar([...filters, ...period]),
    card(
      {
        title: titleOf(given),
        bare: true,
        side: div(
          { class: 'row' },
          news.value.size > 0
            ? button(
                { type: 'button', class: 'tiny', onClick: showNews },
                `${counted(news.value.size, 'new transaction')}`,
              )
            : null,
          columnsButton('Transactions', columns(given)),
          csvButton<TransactionRow>({
            name: 'transactions',
            columns: CSV,
            page: (after, signal) => pageAfter(after, EXPORT_LIMIT, signal),
          }),
        ),
      },
      loaded(
        page,
        ({ rows: all, next }) =>
          all.length === 0 && next === null
            ? none()
            : [
                all.length === 0
                  ? div(
                      { class: 'pad quiet' },
                      'No transaction matches in this part of the list; later pages may have some.',
                    )
                  : rowsTable({
                      label: 'Transactions',
                      mayHide: true,
                      columns:
                        mayChange('device', 'cancelFleetTransactions') && all.some(({ status }) => !isFinished(status))
                          ? [ticks, ...columns(given)]
                          : columns(given),
                      rows: all,
                      keyOf: ({ transactionId }) => transactionId,
                      isChosen: ({ transactionId }) => chosen.value.has(transactionId),
                    }),
                pager(next, all.length),
              ],
        { lines: 10 },
      ),
    ),
  ];
}

export const transactionsPage = (): VNode => use(Transactions, {});
