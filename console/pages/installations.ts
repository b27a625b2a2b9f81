import { a, div, p, small, span, use, type VNode } from '../base/elements.ts';
import { useLoad } from '../base/load.ts';
import { addressOf, place, ROLE } from '../base/place.ts';
import { operation, read, readPage } from '../base/requests.ts';
import type { InstallationList } from '../base/rows.ts';
import { useWatch } from '../base/watching.ts';
import { bars } from '../parts/bars.ts';
import { csvButton, EXPORT_LIMIT } from '../parts/export.ts';
import { filterBar, sinceFilter } from '../parts/filters.ts';
import { loaded } from '../parts/loaded.ts';
import { age, badge, card, idLink, said } from '../parts/show.ts';
import { rowsTable } from '../parts/table.ts';

type Row = InstallationList['devices'][number];

interface Of {
  name: string;
  line: 'software' | 'firmware';
}

const LIMIT = 50;
const LIST = { operator: 'listAnyInstallations', application: 'listInstallations' } as const;
const STATES = {
  installed: ['good', 'installed'],
  waiting: ['calm', 'waiting'],
  failed: ['bad', 'failed'],
} as const;
const FILTERS = [
  {
    name: 'state',
    label: 'State',
    choices: (Object.keys(STATES) as Row['state'][]).map((state) => [state, state] as const),
  },
  { name: 'errorCode', label: 'Error code' },
];

/** The address of this page with other filters; `device` is the place of the page of devices. */
function withFilters(filters: Record<string, string | undefined>): string {
  const { path, query } = place.value;
  return addressOf(path, { ...query, state: undefined, errorCode: undefined, device: undefined, ...filters });
}

function Counts({ of, version }: { of: Of; version: string }) {
  const query = { ...(ROLE === 'operator' && { line: of.line }), limit: 1 };
  const counts = useLoad(
    JSON.stringify([of, version]),
    (signal) => read<InstallationList>(operation(LIST, { package: of.name, version }), { query, signal }),
    { every: 10_000 },
  );
  const watched = `${of.line === 'firmware' ? 'firmware/' : ''}${of.name}@${version}`;
  useWatch(`software:${encodeURIComponent(watched)}`, ({ key, value }) => {
    if (key === watched) counts.change((known) => ({ ...known, ...(value as Partial<InstallationList>) }));
  });
  return loaded(counts, (known) =>
    div(
      { class: 'columns pad' },
      bars(
        'Devices',
        (Object.keys(STATES) as Row['state'][]).map((state) => ({
          label: state,
          value: known[state],
          href: withFilters({ state }),
        })),
      ),
      known.errors.length === 0
        ? null
        : bars(
            'Failures by error',
            known.errors.map(({ code, devices }) => ({
              label: code,
              value: devices,
              href: withFilters({ state: 'failed', errorCode: code }),
            })),
          ),
    ),
  );
}

/** The filters of the devices in a text. The place of a page counts only with the filters that it was made with. */
const marked = (place: string, ...filters: (string | undefined)[]): string => [place, ...filters].join(' ');

function Devices({ of, version }: { of: Of; version: string }) {
  const { state, errorCode, since, device: given = '' } = place.value.query;
  const [after = ''] = given.split(' ', 1);
  const device = given === marked(after, state, errorCode, since) ? after : undefined;
  const query = { ...(ROLE === 'operator' && { line: of.line }), state, errorCode, since, after: device, limit: LIMIT };
  const page = useLoad(
    JSON.stringify([of, version, query]),
    (signal) => readPage<Row>(operation(LIST, { package: of.name, version }), 'devices', { query, signal }),
    { every: 10_000 },
  );
  return loaded(page, ({ rows, next }) => [
    rows.length === 0
      ? p({ class: 'pad quiet' }, 'No device matches.')
      : rowsTable({
          label: 'Installations',
          rows,
          keyOf: ({ deviceId, state: one }) => `${deviceId} ${one}`,
          columns: [
            {
              name: 'Device',
              kind: 'lead',
              cell: ({ deviceId }) => idLink(addressOf(['devices', deviceId]), deviceId),
            },
            {
              name: 'State',
              cell: ({ state: one, errorCode: code }) =>
                div(
                  null,
                  badge(STATES[one][0], STATES[one][1]),
                  code === null ? null : small({ class: 'fault' }, said(code)),
                ),
            },
            { name: 'Since', kind: 'short', cell: ({ since: at }) => age(at) },
          ],
        }),
    div(
      { class: 'row pad' },
      csvButton<Row>({
        name: 'installations',
        columns: ['deviceId', 'state', 'since', 'errorCode'],
        page: (after, signal) =>
          readPage(operation(LIST, { package: of.name, version }), 'devices', {
            query: { ...query, after, limit: EXPORT_LIMIT },
            signal,
          }),
      }),
    ),
    next === null
      ? null
      : div(
          { class: 'row spread pad' },
          span(null),
          a(
            {
              class: 'button',
              href: withFilters({ state, errorCode, device: marked(next, state, errorCode, since) }),
              rel: 'next',
            },
            'Next devices',
          ),
        ),
  ]);
}

function Installations({ of, version }: { of: Of; version: string }) {
  return card(
    {
      title: `Installations of ${version}`,
      bare: true,
      side: a(
        { class: 'small', href: addressOf(['devices'], { package: of.name, version }) },
        'Devices with this version',
      ),
    },
    use(Counts, { of, version }),
    div({ class: 'pad' }, filterBar([...FILTERS, sinceFilter()])),
    use(Devices, { of, version }),
  );
}

/** The devices that have a version installed, wait for it, or failed to install it. Each bar leads to its devices. */
export const installationsCard = (of: Of, version: string): VNode =>
  use(Installations, { of, version, key: `${of.line} ${of.name} ${version}` });
