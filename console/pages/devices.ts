import { useComputed } from '@preact/signals';
import { a, button, div, small, use, type VNode } from '../base/elements.ts';
import { type Loading, useLoad } from '../base/load.ts';
import { addressOf, place, ROLE } from '../base/place.ts';
import { operation, type Page, readPage } from '../base/requests.ts';
import type { DeviceRow } from '../base/rows.ts';
import { permits } from '../base/session.ts';
import { termsOf } from '../base/tag-terms.ts';
import { typed } from '../base/typed.ts';
import { useWatch } from '../base/watching.ts';
import { activationBadge, batteryBadge, connectionBadge } from '../parts/badges.ts';
import { columnsButton } from '../parts/choose-columns.ts';
import { ask } from '../parts/dialog.ts';
import { csvButton, EXPORT_LIMIT } from '../parts/export.ts';
import { textField } from '../parts/fields.ts';
import { asked, type Filter, filterBar } from '../parts/filters.ts';
import { head } from '../parts/head.ts';
import { loaded } from '../parts/loaded.ts';
import { nameAlone, named } from '../parts/named.ts';
import { pager } from '../parts/pager.ts';
import { age, card, empty, idLink, nothing, said } from '../parts/show.ts';
import { sortHead } from '../parts/sort-head.ts';
import { type Column, rowsTable } from '../parts/table.ts';
import { tagChips } from '../parts/tags.ts';
import { changeDevices } from './change-devices.ts';
import { importDevices } from './import-devices.ts';
import { ownDevices } from './own-devices.ts';

const LIMIT = 50;

const FILTERS: readonly Filter[] = [
  { name: 'prefix', label: 'deviceId begins with' },
  {
    name: 'connected',
    label: 'Connection',
    choices: [
      ['true', 'connected'],
      ['false', 'disconnected'],
    ],
  },
  {
    name: 'activation',
    label: 'Activation',
    choices: [
      ['activated', 'activated'],
      ['activating', 'activating'],
      ['deactivated', 'deactivated'],
    ],
  },
  { name: 'tag', label: 'Tags', hint: 'As site=osaka, !old.' },
  { name: 'firmware', label: 'Firmware' },
  { name: 'package', label: 'Package' },
  { name: 'version', label: 'Version' },
  {
    name: 'batteryFrom',
    label: 'Battery from',
    choices: [
      ['10', '10 %'],
      ['20', '20 %'],
      ['50', '50 %'],
    ],
  },
  {
    name: 'batteryBelow',
    label: 'Battery below',
    choices: [
      ['10', '10 %'],
      ['20', '20 %'],
      ['50', '50 %'],
    ],
  },
  {
    name: 'notSeenFor',
    label: 'Not seen for',
    choices: [
      ['1h', 'an hour'],
      ['1d', 'a day'],
      ['7d', '7 days'],
      ['30d', '30 days'],
    ],
  },
];
const OF_OPERATOR: readonly Filter[] = [
  ...FILTERS,
  {
    name: 'blocked',
    label: 'Blocked',
    choices: [
      ['true', 'blocked'],
      ['false', 'not blocked'],
    ],
  },
  { name: 'developerId', label: 'Developer' },
  { name: 'applicationId', label: 'Application' },
];
const filters = ROLE === 'operator' ? OF_OPERATOR : FILTERS;
/** The columns of the list as a file; an application has its own devices only. */
const CSV: readonly (keyof DeviceRow)[] = [
  'deviceId',
  ...(ROLE === 'operator' ? (['developerId', 'applicationId'] as const) : []),
  'activation',
  'blocked',
  'connected',
  'lastSeenAt',
  'firmware',
  'battery',
  'unfinished',
  'tags',
];

function columns(): Column<DeviceRow>[] {
  const { sort = 'deviceId' } = place.value.query;
  const bySeen = sort === 'lastSeen' ? 'ascending' : sort === '-lastSeen' ? 'descending' : undefined;
  const all: Column<DeviceRow>[] = [
    {
      name: 'Device',
      kind: 'lead',
      ...sortHead('Device', bySeen ? undefined : 'ascending', undefined),
      cell: ({ deviceId, tags }) => [idLink(addressOf(['devices', deviceId]), deviceId), tagChips(tags)],
    },
    { name: 'Connection', cell: connectionBadge },
    {
      name: 'Last seen',
      kind: 'short',
      ...sortHead('Last seen', bySeen, bySeen === 'descending' ? 'lastSeen' : '-lastSeen'),
      cell: ({ lastSeenAt }) => age(lastSeenAt),
    },
    { name: 'Activation', cell: activationBadge },
    { name: 'Firmware', cell: ({ firmware }) => said(firmware), isEmpty: ({ firmware }) => firmware === null },
    {
      name: 'Battery',
      kind: 'right',
      cell: ({ battery }) => (battery === null ? nothing() : batteryBadge(battery)),
      isEmpty: ({ battery }) => battery === null,
    },
    {
      name: 'Unfinished',
      kind: 'right',
      cell: ({ deviceId, unfinished }) =>
        unfinished === 0
          ? nothing()
          : a({ href: addressOf(['transactions'], { deviceId, unfinished: 'true' }) }, String(unfinished)),
      isEmpty: ({ unfinished }) => unfinished === 0,
    },
  ];
  if (ROLE === 'operator')
    all.splice(4, 0, {
      name: 'Application',
      cell: ({ applicationId, developerId }) => [
        applicationId === null ? nothing() : named('applications', applicationId),
        small(null, nameAlone('developers', developerId)),
      ],
    });
  return all;
}

/**
 * Asks for a deviceId and opens its page. The list of an application has activated devices only, so this is the way to
 * a device that is to be activated.
 */
const openDevice = (): void =>
  ask({
    title: 'Open a device',
    text: 'The list has activated devices only. Open any other device here to activate it.',
    fields: textField({ name: 'deviceId', label: 'deviceId', required: true }, { inputMode: 'numeric' }),
    does: 'Open',
    act(data, go) {
      go(addressOf(['devices', typed(data, 'deviceId') ?? '']));
      return Promise.resolve(undefined);
    },
  });

const hasFilters = (): boolean => filters.some(({ name }) => place.value.query[name] !== undefined);

function none(): VNode {
  if (hasFilters()) return empty({ title: 'No matching devices', text: 'Remove a filter to see more.' });
  if (ROLE === 'application')
    return empty({ title: 'No device is activated for this application', text: 'Activate one by its deviceId.' });
  return empty({
    title: 'No devices yet',
    text: 'Import them from a file, or register one on the page of a developer.',
  });
}

function Devices() {
  const { tag, ...others } = asked([...filters.map(({ name }) => name), 'sort']);
  const query = { ...others, ...(tag !== undefined && { tag: termsOf(tag) }), limit: LIMIT };
  const pageAfter = (after: string | undefined, limit: number, signal: AbortSignal): Promise<Page<DeviceRow>> =>
    readPage(operation({ operator: 'listFleetDevices', application: 'listOwnDevices' }), 'devices', {
      query: { ...query, after, limit },
      signal,
    });
  const page: Loading<Page<DeviceRow>> = useLoad(JSON.stringify(query), (signal) =>
    pageAfter(others['after'], LIMIT, signal),
  );
  const topic = useComputed(() => {
    const rows = page.state.value.value?.rows ?? [];
    return rows.length === 0 ? '' : `devices:${rows.map(({ deviceId }) => encodeURIComponent(deviceId)).join(';')}`;
  });
  useWatch(topic.value, ({ key, value }) =>
    page.change((known) => ({
      ...known,
      rows: known.rows.map((row) => (row.deviceId === key ? { ...row, ...(value as Partial<DeviceRow>) } : row)),
    })),
  );
  return [
    head({
      title: 'Devices',
      about: 'The list shows changes as they happen.',
      actions:
        ROLE === 'operator'
          ? [
              a({ class: 'button', href: addressOf(['device-actions']) }, 'Device actions'),
              permits('importDevices')
                ? button({ type: 'button', onClick: importDevices }, 'Import from a file')
                : null,
            ]
          : button({ type: 'button', onClick: openDevice }, 'Open a device'),
    }),
    filterBar(filters),
    card(
      {
        title: hasFilters() ? 'Matching devices' : 'All devices',
        bare: true,
        side: div(
          { class: 'row' },
          ROLE === 'application' ? ownDevices() : permits('startDeviceAction') ? changeDevices() : null,
          columnsButton('Devices', columns()),
          csvButton<DeviceRow>({
            name: 'devices',
            columns: CSV,
            page: (after, signal) => pageAfter(after, EXPORT_LIMIT, signal),
          }),
        ),
      },
      loaded(
        page,
        ({ rows, next }) =>
          rows.length === 0 && next === null
            ? none()
            : [
                rows.length === 0
                  ? div(
                      { class: 'pad quiet' },
                      'No device matches in this part of the list; later pages may have some.',
                    )
                  : rowsTable({
                      label: 'Devices',
                      mayHide: true,
                      columns: columns(),
                      rows,
                      keyOf: ({ deviceId }) => deviceId,
                    }),
                pager(next, rows.length),
              ],
        { lines: 10 },
      ),
    ),
  ];
}

export const devicesPage = (): VNode => use(Devices, {});
