import { useSignal } from '@preact/signals';
import { WEBHOOK_SETTINGS } from '../base/contract.ts';
import { a, button, div, p, span, use, type VNode } from '../base/elements.ts';
import { useLoad } from '../base/load.ts';
import { hasFailed, readOwnDeliveries } from '../base/own-deliveries.ts';
import { addressOf } from '../base/place.ts';
import { operation, type Page, read, readPage } from '../base/requests.ts';
import type { DeliveryRow, DeviceRow, Receiver, TransactionRow } from '../base/rows.ts';
import { mayChange, session } from '../base/session.ts';
import { useWatch } from '../base/watching.ts';
import { deliveryBadge, receiverBadge } from '../parts/badges.ts';
import { consumersAttention } from '../parts/consumers.ts';
import { deliveryColumns, lastAnswer } from '../parts/delivery-rows.ts';
import { firstCommand } from '../parts/first-command.ts';
import { firstSteps, type Step } from '../parts/first-steps.ts';
import { head } from '../parts/head.ts';
import { loaded } from '../parts/loaded.ts';
import { age, badge, card, empty, nothing, outside, said, since } from '../parts/show.ts';
import { rowsTable } from '../parts/table.ts';
import { transactionColumns } from '../parts/transaction-rows.ts';
import { whose } from '../parts/whose.ts';
import { ownFleet } from './own-fleet.ts';
import { sendTest } from './test-event.ts';

/** The rows of each list on this page. */
const SHOWN = 5;
/** Deliveries among which the page finds the last one of each receiver, and failed ones that are tried again. */
const RECENT = 50;
/** Devices that the form proposes. */
const DEVICES = 100;
/** Milliseconds between two looks at what has failed; the stream of changes reports neither. */
const EVERY = { every: 15_000 };

type Settings = Record<string, string | null>;
interface Deliveries {
  recent: DeliveryRow[];
  failed: DeliveryRow[];
}
/** Failures, and whether any transaction has succeeded. */
interface Transactions {
  failed: TransactionRow[];
  hasSucceeded: boolean;
}

async function readDeliveries(signal: AbortSignal): Promise<Deliveries> {
  const [{ rows: recent }, ...givenUp] = await Promise.all([
    readOwnDeliveries({ limit: RECENT }, signal),
    readOwnDeliveries({ status: 'exhausted', limit: SHOWN }, signal),
    readOwnDeliveries({ status: 'gone', limit: SHOWN }, signal),
  ]);
  const rows = [...recent.filter(hasFailed), ...givenUp.flatMap((page) => page.rows)];
  const failed = new Map(rows.map((row) => [row.deliveryId, row]));
  const newest = [...failed.values()].toSorted((one, other) => (one.createdAt < other.createdAt ? 1 : -1));
  return { recent, failed: newest.slice(0, SHOWN) };
}

async function readTransactions(signal: AbortSignal): Promise<Transactions> {
  const rowsOf = (status: string, limit: number): Promise<Page<TransactionRow>> =>
    readPage(operation('listOwnTransactions'), 'transactions', { query: { status, limit }, signal });
  const [failed, succeeded] = await Promise.all([rowsOf('failed', SHOWN), rowsOf('succeeded', 1)]);
  return { failed: failed.rows.slice(0, SHOWN), hasSucceeded: succeeded.rows.length > 0 };
}

interface Seen {
  settings: Settings;
  devices: readonly DeviceRow[];
  transactions: Transactions;
  deliveries: Deliveries;
}

const stepsOf = ({ settings, devices, transactions, deliveries }: Seen): Step[] => [
  {
    name: 'Set a receiver',
    isDone: Boolean(settings['deviceEvent']),
    about: 'The results of commands are sent to the URL of deviceEvent. Without it no command can be sent.',
    link: a({ href: addressOf(['settings']) }, 'Set the URL'),
  },
  {
    name: 'Issue the key',
    isDone: Boolean(settings['authenticationKey']),
    about: 'It signs the webhooks, and your receiver verifies them with it.',
    link: a({ href: addressOf(['settings']) }, 'Issue the key'),
  },
  {
    name: 'Activate a device',
    isDone: devices.some(({ activation }) => activation === 'activated'),
    about: 'Type its deviceId below, and send "Activate". It is carried out when the device is connected.',
  },
  {
    name: 'Send a command',
    isDone: transactions.hasSucceeded,
    about: 'Below, or with your own program. This step is done when a device has carried out a command.',
  },
  {
    name: 'Receive its webhook',
    isDone: deliveries.recent.some(({ status, type }) => status === 'delivered' && type !== 'test'),
    about: 'Your receiver must answer 2xx. A test event below shows what it answers.',
  },
];

interface OfReceivers {
  settings: Settings;
  recent: readonly DeliveryRow[];
  /** Called when a receiver has answered a test event. */
  answered(): void;
}

/** The receivers of the application, each with its last answer. The stream reports those that are not healthy. */
function Receivers({ settings, recent, answered }: OfReceivers) {
  const states = useSignal<Readonly<Record<string, Receiver>>>({});
  useWatch('receivers', ({ value }) => {
    const row = value as Receiver;
    states.value = { ...states.value, [row.setting]: { ...states.value[row.setting], ...row } };
  });
  const rows = WEBHOOK_SETTINGS.flatMap((setting) => {
    const url = settings[setting];
    if (!url) return [];
    return [{ setting, url, state: states.value[setting], last: recent.find((row) => row.setting === setting) }];
  });
  const applicationId = session.value?.applicationId ?? '';
  if (rows.length === 0)
    return empty(
      { title: 'No receiver yet', text: 'The URL of deviceEvent gets the results of commands.' },
      a({ class: 'button', href: addressOf(['settings']) }, 'Set the URL'),
    );
  return rowsTable({
    label: 'Receivers',
    rows,
    keyOf: ({ setting }) => setting,
    columns: [
      { name: 'Receiver', kind: 'lead', cell: ({ setting, url }) => [setting, div({ class: 'small' }, outside(url))] },
      {
        name: 'State',
        cell: ({ state, last }) =>
          div(
            null,
            state !== undefined && state.state !== 'healthy'
              ? [
                  receiverBadge(state.state),
                  state.failingSince ? span({ class: 'small' }, ' for ', since(state.failingSince)) : null,
                ]
              : last === undefined
                ? badge('', 'no webhook yet')
                : hasFailed(last)
                  ? badge('warn', 'last webhook failed')
                  : receiverBadge('healthy'),
          ),
      },
      {
        name: 'Last webhook',
        cell: ({ last }) =>
          last === undefined
            ? nothing()
            : div(
                null,
                a({ href: addressOf(['webhooks', applicationId, last.deliveryId]) }, said(last.type)),
                ' ',
                deliveryBadge(last.status),
                div({ class: 'small quiet' }, said(lastAnswer(last)), ' · ', age(last.createdAt)),
              ),
      },
      {
        name: '',
        kind: 'short',
        cell: ({ setting }) =>
          mayChange('application')
            ? button(
                { type: 'button', class: 'tiny', onClick: () => sendTest(applicationId, setting, answered) },
                'Send a test event',
              )
            : null,
      },
    ],
  });
}

function Start() {
  const settings = useLoad('settings', (signal) => read<Settings>(operation('readSettings'), { signal }));
  const devices = useLoad('start devices', async (signal) => {
    const query = { limit: DEVICES };
    return (await readPage<DeviceRow>(operation('listOwnDevices'), 'devices', { query, signal })).rows;
  });
  const transactions = useLoad('start transactions', readTransactions, EVERY);
  const deliveries = useLoad('start deliveries', readDeliveries, EVERY);
  const [seen, rows, ran, sent] = [settings, devices, transactions, deliveries].map(
    ({ state }) => state.value.value,
  ) as [Settings | undefined, DeviceRow[] | undefined, Transactions | undefined, Deliveries | undefined];
  const steps =
    seen && rows && ran && sent ? stepsOf({ settings: seen, devices: rows, transactions: ran, deliveries: sent }) : [];
  const again = (): void => {
    for (const one of [devices, transactions, deliveries]) one.again();
  };
  return [
    head({ title: 'Start', about: whose() }),
    steps.some(({ isDone }) => !isDone)
      ? card(
          {
            title: 'First steps',
            side: span(
              { class: 'quiet small' },
              `${steps.filter(({ isDone }) => isDone).length} of ${steps.length} done`,
            ),
          },
          firstSteps(steps),
        )
      : null,
    consumersAttention(),
    ownFleet(),
    card(
      { title: 'Receivers', bare: true },
      loaded(settings, (own) =>
        loaded(deliveries, ({ recent }) => use(Receivers, { settings: own, recent, answered: deliveries.again })),
      ),
    ),
    card(
      {
        title: 'Commands that failed last',
        bare: true,
        side: a({ href: addressOf(['transactions'], { status: 'failed' }), class: 'small' }, 'All failures'),
      },
      loaded(transactions, ({ failed }) =>
        failed.length === 0
          ? p({ class: 'pad quiet' }, 'No command has failed.')
          : rowsTable({
              label: 'Commands that failed last',
              rows: failed,
              columns: transactionColumns(),
              keyOf: ({ transactionId }) => transactionId,
            }),
      ),
    ),
    card(
      {
        title: 'Webhooks that failed last',
        bare: true,
        side: a({ href: addressOf(['webhooks'], { status: 'exhausted' }), class: 'small' }, 'All that were given up'),
      },
      loaded(deliveries, ({ failed }) =>
        failed.length === 0
          ? p({ class: 'pad quiet' }, 'No webhook has failed.')
          : rowsTable({
              label: 'Webhooks that failed last',
              rows: failed,
              columns: deliveryColumns(),
              keyOf: ({ deliveryId }) => deliveryId,
            }),
      ),
    ),
    loaded(devices, (known) => firstCommand({ devices: known, told: again })),
  ];
}

export const startPage = (): VNode => use(Start, {});
