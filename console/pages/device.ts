import { a, type Child, div, dl, p, span, use, type VNode } from '../base/elements.ts';
import { type Loading, useLoad } from '../base/load.ts';
import { addressOf, ROLE } from '../base/place.ts';
import { operation, type Page, read, readPage } from '../base/requests.ts';
import type { DeviceConnection, DeviceRow, TransactionRow } from '../base/rows.ts';
import { useWatch } from '../base/watching.ts';
import { activationBadge, connectionBadge, isFinished } from '../parts/badges.ts';
import { head } from '../parts/head.ts';
import { liveMessages } from '../parts/live-messages.ts';
import { loaded } from '../parts/loaded.ts';
import { nameAlone } from '../parts/named.ts';
import { age, badge, card, empty, fact, id, nothing, since } from '../parts/show.ts';
import { rowsTable } from '../parts/table.ts';
import { renewed, transactionColumns } from '../parts/transaction-rows.ts';
import { whyWaiting } from '../parts/why-waiting.ts';
import { administration } from './device-administration.ts';
import { commands } from './device-commands.ts';
import { deviceLogin } from './device-login.ts';
import { deviceNotes } from './device-notes.ts';
import { deviceSamples } from './device-samples.ts';
import { deviceStatus } from './device-status.ts';
import { deviceStory } from './device-story.ts';
import { deviceTags } from './device-tags.ts';

/** A device with the fields of its row in lists. A field that the user may not see is undefined. */
type Known = Partial<DeviceRow> & Pick<DeviceRow, 'deviceId' | 'activation'>;

/**
 * Finds a device in the list first, because its row has more fields (connection, reported status) than the answer for
 * one device.
 */
async function find(deviceId: string, signal: AbortSignal): Promise<Known> {
  const { rows } = await readPage<DeviceRow>(
    operation({ operator: 'listFleetDevices', application: 'listOwnDevices' }),
    'devices',
    { query: { prefix: deviceId, limit: 1 }, signal },
  );
  const row = rows.find((one) => one.deviceId === deviceId);
  if (row) return row;
  // The device is not activated for the application, which may then only read its activation status (op 4).
  const known = await read<Partial<Known> & { status?: 'activated' | 'deactivated' }>(
    operation({ operator: 'readDevice', application: 'readActivation' }, { deviceId }),
    { signal },
  );
  return { ...known, deviceId, activation: known.activation ?? known.status ?? 'deactivated' };
}

function ConnectionCard({ deviceId, connected }: { deviceId: string; connected: boolean | undefined }) {
  const connection = useLoad(
    `${deviceId} ${connected}`,
    (signal) => read<DeviceConnection>(operation('readConnection', { deviceId }), { signal }),
    { every: 10_000 },
  );
  return card(
    { title: 'Connection', bare: true },
    loaded(connection, (value) =>
      dl(
        { class: 'facts' },
        fact('State', [
          connectionBadge(value),
          value.connected && value.since ? span({ class: 'age' }, 'for ', since(value.since)) : null,
        ]),
        value.withoutCommandsSince === null
          ? null
          : fact('Commands', [
              badge('warn', 'not subscribed'),
              span(
                { class: 'age' },
                'for ',
                since(value.withoutCommandsSince),
                ': its commands wait until it subscribes',
              ),
            ]),
        fact('Last seen', value.lastSeenAt === null ? 'never' : age(value.lastSeenAt)),
        value.connected
          ? [
              fact('Address', value.address === null ? nothing() : id(value.address)),
              fact('Transport', [
                value.transport ?? nothing(),
                value.protocol === null ? null : span({ class: 'age' }, `MQTT ${value.protocol}`),
              ]),
              fact('Keep alive', keepAlive(value.keepAliveSeconds)),
              value.node === null
                ? null
                : fact('Node', [
                    id(value.node),
                    value.since === null
                      ? span(
                          { class: 'small quiet' },
                          'not the node of this console: live messages are shown in the console of that node',
                        )
                      : null,
                  ]),
            ]
          : null,
        fact(
          'Session',
          value.session.present
            ? value.session.subscriptions.length === 0
              ? 'present, without subscriptions'
              : div(
                  null,
                  value.session.subscriptions.map((topic) => div({ key: topic }, id(topic))),
                )
            : badge('', 'none'),
        ),
      ),
    ),
  );
}

const changeRows = (page: Loading<Page<TransactionRow>>, key: string, value: unknown, deviceId: string): void => {
  const known = page.state.peek().value;
  if (!known) return;
  if (known.rows.some(({ transactionId }) => String(transactionId) === key))
    page.change((now) => ({ ...now, rows: renewed(now.rows, key, value) }));
  else if ((value as Partial<TransactionRow>).deviceId === deviceId) page.again();
};

const keyOf = ({ transactionId }: TransactionRow): number => transactionId;

function Timeline({ deviceId, page }: { deviceId: string; page: Loading<Page<TransactionRow>> }) {
  return card(
    {
      title: 'Timeline',
      bare: true,
      side: span(
        { class: 'row small' },
        a({ href: addressOf(['rollouts'], { deviceId }) }, 'Its rollouts'),
        a({ href: addressOf(['transactions'], { deviceId }) }, 'All transactions'),
      ),
    },
    loaded(page, ({ rows }) =>
      rows.length === 0
        ? empty({ title: 'No transactions yet' })
        : rowsTable({ label: 'Timeline', columns: transactionColumns({ ofDevice: true }), rows, keyOf }),
    ),
  );
}

function Transactions({ deviceId, device }: { deviceId: string; device: Known }) {
  const query = { deviceId, limit: 25 };
  const list = operation({ operator: 'listFleetTransactions', application: 'listOwnTransactions' });
  const page = useLoad(`${deviceId} transactions`, (signal) =>
    readPage<TransactionRow>(list, 'transactions', { query, signal }),
  );
  const queue = useLoad(`${deviceId} queue`, (signal) =>
    readPage<TransactionRow>(list, 'transactions', { query: { ...query, unfinished: 'true' }, signal }),
  );
  useWatch('transactions', ({ key, value }, first) => {
    if (first) return;
    changeRows(page, key, value, deviceId);
    changeRows(queue, key, value, deviceId);
  });
  const columns = transactionColumns({ ofDevice: true });
  return [
    card(
      {
        title: 'Queue',
        bare: true,
        side: span({ class: 'quiet small' }, 'unfinished transactions, in the order of delivery'),
      },
      loaded(
        queue,
        ({ rows, next }) => {
          const waiting = rows.filter(({ status }) => !isFinished(status));
          if (waiting.length === 0) return p({ class: 'pad quiet' }, 'No transaction is unfinished.');
          return [
            whyWaiting({ device, rows: waiting }),
            rowsTable({ label: 'Queue', columns, rows: waiting, keyOf }),
            next === null
              ? null
              : div(
                  { class: 'pad' },
                  a(
                    { href: addressOf(['transactions'], { deviceId, unfinished: 'true' }) },
                    'All unfinished transactions',
                  ),
                ),
          ];
        },
        { lines: 2 },
      ),
    ),
    ROLE === 'operator' ? deviceStory(deviceId) : use(Timeline, { deviceId, page }),
  ];
}

function Device({ deviceId }: { deviceId: string }) {
  const device = useLoad(deviceId, (signal) => find(deviceId, signal));
  useWatch(`devices:${encodeURIComponent(deviceId)}`, ({ key, value }) => {
    if (key === deviceId) device.change((known) => ({ ...known, ...(value as Partial<DeviceRow>) }));
  });
  const { value: row } = device.state.value;
  // An application may see the status and the messages of a device only while the device is activated for it.
  const isKnown = ROLE === 'operator' || row?.activation === 'activated';
  return [
    head({
      title: deviceId,
      copied: deviceId,
      trail: [[addressOf(['devices']), 'Devices']],
      state: row
        ? [
            row.connected === undefined ? null : connectionBadge({ connected: row.connected }),
            activationBadge({ activation: row.activation, blocked: row.blocked ?? false }),
          ]
        : null,
      about: row ? aboutOf(row) : null,
      actions: row ? (ROLE === 'operator' ? administration(row, device.again) : commands(row, device.again)) : null,
    }),
    row ? null : loaded(device, () => null, { lines: 3 }),
    row
      ? [
          div(
            { class: 'beside' },
            div(
              { class: 'stack' },
              ROLE === 'operator' ? use(ConnectionCard, { deviceId, connected: row.connected, key: deviceId }) : null,
              ROLE === 'operator' ? deviceLogin({ deviceId, connected: row.connected }) : null,
              row.tags ? deviceTags(deviceId, row.tags, device.again) : null,
              isKnown ? deviceNotes(deviceId) : null,
              isKnown ? deviceStatus(deviceId) : null,
            ),
            div(
              { class: 'stack' },
              isKnown ? liveMessages(deviceId) : null,
              ROLE === 'operator' ? deviceSamples(deviceId) : null,
              use(Transactions, { deviceId, device: row, key: deviceId }),
            ),
          ),
        ]
      : null,
  ];
}

const aboutOf = ({ applicationId, developerId }: Known): Child =>
  ROLE === 'application'
    ? null
    : [
        developerId ? div(null, 'developer ', nameAlone('developers', developerId)) : null,
        applicationId ? div(null, 'application ', nameAlone('applications', applicationId)) : null,
      ];

/** The interval of pings that the device has promised; with 0 it has promised none. */
const keepAlive = (seconds: number | null): Child =>
  seconds === null ? nothing() : seconds === 0 ? 'none' : `${seconds} s`;

export const devicePage = (deviceId: string): VNode => use(Device, { deviceId, key: deviceId });
