import { now } from '../base/clock.ts';
import { WEBHOOK_SETTINGS } from '../base/contract.ts';
import { a, button, type Child, div, nav, small, span, use, type VNode } from '../base/elements.ts';
import { count, visible } from '../base/format.ts';
import { type Loading, useLoad } from '../base/load.ts';
import { readOwnDeliveries } from '../base/own-deliveries.ts';
import { addressOf, place, ROLE } from '../base/place.ts';
import { operation, type Page, readPage, send } from '../base/requests.ts';
import type { DeliveryRow, Receiver } from '../base/rows.ts';
import { deliveriesSent, useSent } from '../base/sent-deliveries.ts';
import { mayChange, permits, session } from '../base/session.ts';
import { useWatch } from '../base/watching.ts';
import { receiverBadge } from '../parts/badges.ts';
import { columnsButton } from '../parts/choose-columns.ts';
import { deliveryColumns, lastAnswer } from '../parts/delivery-rows.ts';
import { csvButton, EXPORT_LIMIT } from '../parts/export.ts';
import { asked, type Filter, filterBar, periodFilters } from '../parts/filters.ts';
import { head } from '../parts/head.ts';
import { loaded } from '../parts/loaded.ts';
import { pager } from '../parts/pager.ts';
import { card, empty, nothing, outside, said, since, until } from '../parts/show.ts';
import { successBar } from '../parts/success-bar.ts';
import { type Column, rowsTable } from '../parts/table.ts';
import { redeliverRange, STATES } from './redeliver-range.ts';
import { sendTest } from './test-event.ts';

const LIMIT = 50;

const FILTERS: readonly Filter[] = [
  { name: 'status', label: 'State', choices: STATES.map((state) => [state, state] as const) },
  { name: 'setting', label: 'Setting', choices: WEBHOOK_SETTINGS.map((setting) => [setting, setting] as const) },
];
const OF_OPERATOR: readonly Filter[] = [
  ...FILTERS,
  { name: 'applicationId', label: 'Application' },
  { name: 'deviceId', label: 'Device' },
  { name: 'transactionId', label: 'Transaction' },
];

/** Sends a delivery again, whatever its state. */
export async function redeliver(applicationId: string, deliveryId: string): Promise<void> {
  await send(operation({ operator: 'redeliverOne', application: 'redeliver' }, { applicationId, deliveryId }));
}

const receiverColumns: Column<Receiver>[] = [
  {
    name: 'Receiver',
    kind: 'lead',
    cell: ({ applicationId, applicationName, setting, url }) => [
      a({ href: addressOf(['applications', applicationId]) }, said(applicationName)),
      span(null, ' ', said(setting)),
      small({ class: 'mono' }, visible(applicationId)),
      small(null, outside(url)),
    ],
  },
  {
    name: 'Customer',
    cell: ({ developerId, developerName }) =>
      div(
        null,
        a({ href: addressOf(['developers', developerId]) }, said(developerName)),
        small({ class: 'mono' }, visible(developerId)),
      ),
  },
  {
    name: 'State',
    cell: (row) =>
      div(
        null,
        receiverBadge(row.state),
        row.failingSince ? small(null, 'for ', since(row.failingSince)) : null,
        lastAnswer(row) === '' || row.state === 'healthy' ? null : small({ class: 'fault' }, said(lastAnswer(row))),
      ),
  },
  { name: 'Last 24 hours', cell: ({ hours }) => successBar(hours) },
  {
    name: 'Pending',
    kind: 'right',
    cell: ({ pending, applicationId, setting }) =>
      pending === 0
        ? nothing()
        : a({ href: addressOf(['webhooks'], { status: 'pending', applicationId, setting }) }, count(pending)),
  },
  {
    name: 'Oldest due',
    kind: 'short',
    cell: ({ oldestDueAt }) =>
      oldestDueAt === null ? nothing() : Date.parse(oldestDueAt) < now.peek() ? since(oldestDueAt) : until(oldestDueAt),
  },
  {
    name: 'Next attempt',
    kind: 'short',
    cell: ({ nextAttemptAt }) => until(nextAttemptAt),
    isEmpty: ({ nextAttemptAt }) => nextAttemptAt === null,
  },
  {
    name: '',
    kind: 'short',
    cell: ({ applicationId, setting }) =>
      div(
        { class: 'row' },
        permits('testReceiver')
          ? button({ type: 'button', class: 'tiny', onClick: () => sendTest(applicationId, setting) }, 'Test')
          : null,
        permits('redeliverSome')
          ? button(
              { type: 'button', class: 'tiny', onClick: () => redeliverRange(applicationId, setting) },
              'Redeliver',
            )
          : null,
      ),
  },
];

const WORST = ['failing', 'slow', 'retrying', 'healthy'];
const RECEIVER_FILTERS: readonly Filter[] = [
  { name: 'state', label: 'State', choices: WORST.map((one) => [one, one] as const) },
  { name: 'customer', label: 'Customer', hint: 'A developerId.' },
];
/** Receivers in a page of their list, which is sorted by state within the page. */
const MOST_RECEIVERS = 1000;

const RECEIVER_CSV = [
  'applicationId',
  'applicationName',
  'developerId',
  'developerName',
  'setting',
  'url',
  'state',
  'pending',
  'oldestDueAt',
  'failingSince',
  'lastStatusCode',
  'lastError',
  'nextAttemptAt',
  'hours',
] as const satisfies readonly (keyof Receiver)[];
const DELIVERY_CSV = [
  'deliveryId',
  'applicationId',
  'deviceId',
  'transactionId',
  'setting',
  'type',
  'url',
  'status',
  'attempts',
  'lastStatusCode',
  'lastError',
  'nextAttemptAt',
  'createdAt',
  'updatedAt',
] as const satisfies readonly (keyof DeliveryRow)[];

function Receivers() {
  const { state, customer: developerId, after } = place.value.query;
  const query = { state, developerId, after, limit: MOST_RECEIVERS };
  const receivers = useLoad(
    `receivers ${JSON.stringify(query)}`,
    (signal) => readPage<Receiver>(operation('listReceivers'), 'receivers', { query, signal }),
    { every: 15_000 },
  );
  useWatch('receivers', ({ key, value }) =>
    receivers.change((known) => ({
      ...known,
      rows: known.rows.map((row) =>
        `${row.applicationId} ${row.setting}` === key ? { ...row, ...(value as Partial<Receiver>) } : row,
      ),
    })),
  );
  return [
    filterBar(RECEIVER_FILTERS),
    card(
      {
        title: 'Receivers',
        bare: true,
        side: csvButton<Receiver>({
          name: 'receivers',
          columns: RECEIVER_CSV,
          page: (next, signal) =>
            readPage(operation('listReceivers'), 'receivers', { query: { ...query, after: next }, signal }),
        }),
      },
      loaded(receivers, ({ rows: all, next }) => {
        const rows = all.toSorted(
          (one, other) => WORST.indexOf(one.state) - WORST.indexOf(other.state) || other.pending - one.pending,
        );
        if (rows.length === 0)
          return state === undefined && developerId === undefined
            ? empty({
                title: 'No receivers yet',
                text: 'An application sets its webhook URLs in its settings; deviceEvent is the first one to set.',
              })
            : empty({
                title: state === undefined ? 'No receiver of this customer' : `No receiver is ${state}`,
                text:
                  state === 'failing'
                    ? 'All webhooks are being delivered.'
                    : 'Remove the filter to see the other receivers.',
              });
        return [
          rowsTable({
            label: 'Receivers',
            columns: receiverColumns,
            rows,
            keyOf: ({ applicationId, setting }) => `${applicationId} ${setting}`,
          }),
          pager(next, rows.length),
        ];
      }),
    ),
  ];
}

function Deliveries() {
  const filters = ROLE === 'operator' ? OF_OPERATOR : FILTERS;
  const query = { ...asked([...filters.map(({ name }) => name), 'since', 'until']), limit: LIMIT };
  const page: Loading<Page<DeliveryRow>> = useLoad(`deliveries ${JSON.stringify(query)}`, (signal) =>
    ROLE === 'operator'
      ? readPage<DeliveryRow>(operation('listAllDeliveries'), 'deliveries', { query, signal })
      : readOwnDeliveries(query, signal),
  );
  const shown = page.state.value.value?.rows ?? [];
  useSent(
    shown.some(({ status }) => status === 'pending'),
    page.again,
  );
  return [
    filterBar(
      [...filters, ...periodFilters()],
      button({ type: 'button', class: 'plain', onClick: page.again }, 'Refresh'),
    ),
    card(
      {
        title: 'Delivery log, newest first',
        bare: true,
        side: div(
          { class: 'row' },
          columnsButton('Deliveries', deliveryColumns()),
          csvButton<DeliveryRow>({
            name: 'deliveries',
            columns: DELIVERY_CSV,
            page: (after, signal) =>
              readPage(operation({ operator: 'listAllDeliveries', application: 'listDeliveries' }), 'deliveries', {
                query: { ...query, after, limit: EXPORT_LIMIT },
                signal,
              }),
          }),
        ),
      },
      loaded(
        page,
        ({ rows, next }) =>
          rows.length === 0 && next === null
            ? empty({
                title: 'No deliveries',
                text: 'A webhook is sent when a transaction ends, and for each event of a device.',
              })
            : [
                rowsTable({
                  label: 'Deliveries',
                  mayHide: true,
                  columns: deliveryColumns(),
                  rows,
                  keyOf: ({ deliveryId }) => deliveryId,
                }),
                pager(next, rows.length),
              ],
        { lines: 10 },
      ),
    ),
  ];
}

const tab = (words: string, log: string | undefined, isHere: boolean): Child =>
  a({ href: addressOf(['webhooks'], { log }), ...(isHere && { 'aria-current': 'page' as const }) }, words);

function Webhooks() {
  const { query } = place.value;
  const isLog =
    ROLE === 'application' ||
    query['log'] !== undefined ||
    ['status', 'applicationId', 'deviceId', 'transactionId'].some((name) => query[name] !== undefined);
  const own = session.value?.applicationId;
  return [
    head({
      title: 'Webhooks',
      actions: [
        a({ class: 'button', href: addressOf(['signature']), key: 'signature' }, 'Check a signature'),
        own && mayChange('application')
          ? [
              button({ type: 'button', onClick: () => redeliverRange(own) }, 'Send a range again'),
              button(
                { type: 'button', onClick: () => sendTest(own, 'deviceEvent', deliveriesSent) },
                'Send a test event',
              ),
            ]
          : null,
      ],
    }),
    ROLE === 'operator'
      ? nav(
          { class: 'tabs', 'aria-label': 'Webhooks' },
          tab('Receivers', undefined, !isLog),
          tab('Delivery log', 'all', isLog),
        )
      : null,
    isLog ? use(Deliveries, {}) : use(Receivers, {}),
  ];
}

export const webhooksPage = (): VNode => use(Webhooks, {});
