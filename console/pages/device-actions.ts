import { use, type VNode } from '../base/elements.ts';
import { type Loading, useLoad } from '../base/load.ts';
import { addressOf } from '../base/place.ts';
import { operation, type Page, readPage } from '../base/requests.ts';
import type { DeviceAction } from '../base/rows.ts';
import { ACTION_COLUMNS } from '../parts/action-rows.ts';
import { csvButton } from '../parts/export.ts';
import { asked } from '../parts/filters.ts';
import { head } from '../parts/head.ts';
import { loaded } from '../parts/loaded.ts';
import { pager } from '../parts/pager.ts';
import { card, empty } from '../parts/show.ts';
import { rowsTable } from '../parts/table.ts';

const LIMIT = 50;
/** The most rows that this list gives at a time. */
const EXPORTED = 100;
/** Milliseconds between two reads. The feed does not report device actions. */
const READ_EVERY = 5_000;

const CSV = [
  'actionId',
  'action',
  'filter',
  'state',
  'reason',
  'devices',
  'counts',
  'createdAt',
  'startedAt',
  'endedAt',
] as const satisfies readonly (keyof DeviceAction)[];

function DeviceActions() {
  const query = { ...asked([]), limit: LIMIT };
  const page: Loading<Page<DeviceAction>> = useLoad(
    JSON.stringify(query),
    (signal) => readPage<DeviceAction>(operation('listDeviceActions'), 'actions', { query, signal }),
    { every: READ_EVERY },
  );
  return [
    head({
      title: 'Device actions',
      trail: [[addressOf(['devices']), 'Devices']],
      about: 'Changes of all devices that match a filter. The list of devices begins them.',
    }),
    card(
      {
        title: 'Newest first',
        bare: true,
        side: csvButton<DeviceAction>({
          name: 'device-actions',
          columns: CSV,
          page: (after, signal) =>
            readPage(operation('listDeviceActions'), 'actions', { query: { after, limit: EXPORTED }, signal }),
        }),
      },
      loaded(
        page,
        ({ rows, next }) =>
          rows.length === 0 && next === null
            ? empty({
                title: 'No device actions yet',
                text: 'Filter the list of devices, then change all that match.',
              })
            : [
                rowsTable({
                  label: 'Device actions',
                  columns: ACTION_COLUMNS,
                  rows,
                  keyOf: ({ actionId }) => actionId,
                }),
                pager(next, rows.length),
              ],
        { lines: 10 },
      ),
    ),
  ];
}

export const deviceActionsPage = (): VNode => use(DeviceActions, {});
