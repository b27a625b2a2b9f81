import {
  button,
  type Child,
  code,
  dd,
  div,
  dl,
  dt,
  li,
  p,
  small,
  span,
  ul,
  use,
  type VNode,
} from '../base/elements.ts';
import { bytes, visible } from '../base/format.ts';
import { useLoad } from '../base/load.ts';
import { readMetrics } from '../base/metrics.ts';
import { PUBLIC } from '../base/operations.ts';
import { ROOT } from '../base/place.ts';
import { operation, read, send } from '../base/requests.ts';
import type { ConsoleSession, SettingRow } from '../base/rows.ts';
import { allAlarms } from '../parts/alarms.ts';
import { act } from '../parts/dialog.ts';
import { head } from '../parts/head.ts';
import { loaded } from '../parts/loaded.ts';
import { age, badge, card, id, nothing, said } from '../parts/show.ts';
import { rowsTable } from '../parts/table.ts';
import { nodesCards } from './health-nodes.ts';
import { stepsCards } from './health-steps.ts';

/** Milliseconds between two requests for the state of the service. */
const EVERY = 5_000;

const SIZES = [
  ['lapel_database_bytes{file="database"}', 'Database'],
  ['lapel_database_bytes{file="wal"}', 'Write-ahead log'],
  ['lapel_database_free_bytes', 'Free space inside the database'],
  ['lapel_objects_stored_bytes', 'Stored objects'],
  ['lapel_disk_free_bytes', 'Free space on the disk'],
  ['process_resident_memory_bytes', 'Memory of the process'],
] as const;

function Readiness() {
  const ready = useLoad(
    'ready',
    async (signal) => {
      const response = await fetch(ROOT + PUBLIC.readReadiness.path, { signal, cache: 'no-store' });
      return ((await response.json()) as { problems?: (string | { part?: string })[] }).problems ?? [];
    },
    { every: EVERY },
  );
  return card(
    { title: 'Readiness' },
    loaded(ready, (problems) =>
      problems.length === 0
        ? div({ class: 'row' }, badge('good', 'ready'), span({ class: 'soft' }, 'Every part of the service is ready.'))
        : ul(
            { class: 'stack tight' },
            problems.map((problem, index) =>
              li({ key: index, class: 'fault' }, said(typeof problem === 'string' ? problem : JSON.stringify(problem))),
            ),
          ),
    ),
  );
}

function Sizes() {
  const sizes = useLoad('metrics', readMetrics, { every: 2 * EVERY });
  return card(
    { title: 'Sizes', bare: true },
    loaded(sizes, (values) => {
      const known = SIZES.filter(([name]) => values.has(name));
      return dl(
        { class: 'facts' },
        known.map(([name, words]) =>
          div({ key: name }, dt(null, words), dd(null, span({ class: 'num' }, bytes(values.get(name)!)))),
        ),
      );
    }),
  );
}

function Sessions() {
  const sessions = useLoad(
    'sessions',
    async (signal) => (await read<{ sessions: ConsoleSession[] }>(operation('listSessions'), { signal })).sessions,
    { every: 2 * EVERY },
  );
  const end = (sessionId: string): void =>
    act(async () => {
      await send(operation('endSession', { sessionId }));
      sessions.again();
      return 'The session was ended.';
    });
  return card(
    { title: 'Sessions of the console', bare: true },
    loaded(sessions, (rows) =>
      rows.length === 0
        ? p({ class: 'pad quiet' }, 'None')
        : rowsTable({
            label: 'Sessions',
            rows,
            keyOf: ({ sessionId }) => sessionId,
            columns: [
              { name: 'Who', kind: 'lead', cell: ({ name }) => (name === null ? 'administrator token' : said(name)) },
              { name: 'Address', cell: ({ address }) => (address === null ? nothing() : id(address)) },
              { name: 'Since', kind: 'short', cell: ({ createdAt }) => age(createdAt) },
              { name: 'Last used', kind: 'short', cell: ({ lastUsedAt }) => age(lastUsedAt) },
              {
                name: '',
                kind: 'short',
                cell: ({ sessionId }) =>
                  button({ type: 'button', class: 'tiny', onClick: () => end(sessionId) }, 'End'),
              },
            ],
          }),
    ),
  );
}

/** Shows the parts of a description that are between backticks as code. */
const worded = (text: string): Child =>
  text.split('`').map((part, index) => (index % 2 === 1 ? code(null, visible(part)) : visible(part)));

const shownValue = ({ value, secret, isSet }: SettingRow): Child => {
  if (secret) return isSet ? badge('good', 'set, not shown') : nothing();
  return value === null ? nothing() : code({ class: 'wrap' }, visible(value));
};

function SettingsCard() {
  const settings = useLoad(
    'settings',
    async (signal) => (await read<{ settings: SettingRow[] }>(operation('listSettings'), { signal })).settings,
  );
  return card(
    {
      title: 'Settings',
      bare: true,
      side: span({ class: 'quiet small' }, 'in effect since the start of this process'),
    },
    loaded(settings, (rows) =>
      rowsTable({
        label: 'Settings',
        rows,
        keyOf: ({ name }) => name,
        columns: [
          {
            name: 'Setting',
            kind: 'lead',
            cell: ({ name, description }) => [code(null, name), small(null, worded(description))],
          },
          { name: 'Value', cell: (row) => div(null, shownValue(row), row.isSet ? null : small(null, 'default')) },
        ],
      }),
    ),
  );
}

function Health() {
  return [
    head({ title: 'Health' }),
    allAlarms(),
    stepsCards(),
    nodesCards(),
    div({ class: 'columns' }, use(Readiness, {}), use(Sizes, {})),
    use(Sessions, {}),
    use(SettingsCard, {}),
  ];
}

export const healthPage = (): VNode => use(Health, {});
