import { button, type Child, code, div, p, small, span, use, type VNode } from '../base/elements.ts';
import { visible } from '../base/format.ts';
import { useLoad } from '../base/load.ts';
import { operation, read, send } from '../base/requests.ts';
import type { ConsoleSession, SettingRow } from '../base/rows.ts';
import { act } from '../parts/dialog.ts';
import { head } from '../parts/head.ts';
import { loaded } from '../parts/loaded.ts';
import { age, badge, breakable, card, id, nothing, said } from '../parts/show.ts';
import { rowsTable } from '../parts/table.ts';

/** Milliseconds between two reads of the sessions. */
const EVERY = 10_000;

function Sessions() {
  const sessions = useLoad(
    'sessions',
    async (signal) => (await read<{ sessions: ConsoleSession[] }>(operation('listSessions'), { signal })).sessions,
    { every: EVERY },
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
  return value === null ? nothing() : code({ class: 'wrap' }, breakable(value));
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
          {
            name: 'Value',
            cell: (row) => div({ class: 'setting' }, shownValue(row), row.isSet ? null : small(null, 'default')),
          },
        ],
      }),
    ),
  );
}

/** The settings that the service was started with, and the sessions of its console. */
export const serviceSettingsPage = (): VNode => use(ServiceSettings, {});

function ServiceSettings() {
  return [
    head({ title: 'Settings', about: 'The settings that this process was started with, and who uses the console.' }),
    use(SettingsCard, {}),
    use(Sessions, {}),
  ];
}
