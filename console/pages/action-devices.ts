import { use, type VNode } from '../base/elements.ts';
import { type Loading, useLoad } from '../base/load.ts';
import { addressOf, place } from '../base/place.ts';
import { operation, type Page, readPage } from '../base/requests.ts';
import type { ActionDevice } from '../base/rows.ts';
import { ACTION_DEVICE_STATES, actionDeviceBadge, codeWords } from '../parts/action-rows.ts';
import { devicesCard } from '../parts/devices-card.ts';
import { asked, type Filter, filterBar } from '../parts/filters.ts';
import { head } from '../parts/head.ts';
import { age, idLink, nothing } from '../parts/show.ts';
import type { Column } from '../parts/table.ts';

const LIMIT = 100;

const STATE: Filter = {
  name: 'state',
  label: 'State',
  choices: ACTION_DEVICE_STATES.map((state) => [state, state] as const),
};
const CODE: Filter = { name: 'code', label: 'Code' };

const COLUMNS: readonly Column<ActionDevice>[] = [
  { name: 'Device', kind: 'lead', cell: ({ deviceId }) => idLink(addressOf(['devices', deviceId]), deviceId) },
  { name: 'State', cell: ({ state }) => actionDeviceBadge(state) },
  {
    name: 'Reason',
    cell: ({ code }) => (code === null ? nothing() : codeWords(code)),
    isEmpty: ({ code }) => code === null,
  },
  { name: 'When', kind: 'short', cell: ({ updatedAt }) => age(updatedAt) },
];
const CSV = ['deviceId', 'state', 'code', 'updatedAt'] as const satisfies readonly (keyof ActionDevice)[];

function ActionDevices({ actionId }: { actionId: string }) {
  const { state } = place.value.query;
  // The service accepts a code only beside a state.
  const names = state === undefined ? ['state'] : ['state', 'code'];
  const request = operation('listDevicesOfAction', { actionId });
  const query = { ...asked(names), limit: LIMIT };
  const page: Loading<Page<ActionDevice>> = useLoad(JSON.stringify([actionId, query]), (signal) =>
    readPage<ActionDevice>(request, 'devices', { query, signal }),
  );
  return [
    head({
      title: 'Devices of the action',
      trail: [
        [addressOf(['device-actions']), 'Device actions'],
        [addressOf(['device-actions', actionId]), 'The action'],
      ],
      about: 'The outcome of each device, also of deleted ones.',
    }),
    filterBar(state === 'refused' || state === 'skipped' ? [STATE, CODE] : [STATE]),
    devicesCard({
      title: state === undefined ? 'All devices' : 'Matching devices',
      none: 'No matching devices',
      page,
      request: request,
      query,
      columns: COLUMNS,
      csv: { name: 'action-devices', columns: CSV },
    }),
  ];
}

export const actionDevicesPage = (actionId: string): VNode => use(ActionDevices, { actionId, key: actionId });
