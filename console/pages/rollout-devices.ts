import { div, small, use, type VNode } from '../base/elements.ts';
import { count, visible } from '../base/format.ts';
import { type Loading, useLoad } from '../base/load.ts';
import { addressOf, place } from '../base/place.ts';
import { operation, type Page, read, readPage } from '../base/requests.ts';
import { nameOf } from '../base/rollout-words.ts';
import type { RolloutDetails, RolloutDevice } from '../base/rows.ts';
import { devicesCard } from '../parts/devices-card.ts';
import { asked, type Filter, filterBar } from '../parts/filters.ts';
import { head } from '../parts/head.ts';
import { DEVICE_STATES, rolloutBadge, rolloutDeviceBadge } from '../parts/rollout-rows.ts';
import { age, idLink, nothing, said } from '../parts/show.ts';
import type { Column } from '../parts/table.ts';

const LIMIT = 100;
/** Milliseconds between two reads. */
const READ_EVERY = 5_000;

const STATE: Filter = {
  name: 'state',
  label: 'State',
  choices: DEVICE_STATES.map((state) => [state, state] as const),
};

/** The filter for the codes of a state. */
const codeFilter = (errors: RolloutDetails['errors'], state: string): Filter => ({
  name: 'code',
  label: 'Error',
  choices: errors
    .filter((error) => error.state === state)
    .map(({ code, devices }) => [code, `${visible(code)} (${count(devices)})`] as const),
});

const COLUMNS: readonly Column<RolloutDevice>[] = [
  {
    name: 'Device',
    kind: 'lead',
    cell: ({ deviceId }) => idLink(addressOf(['devices', deviceId]), deviceId),
  },
  {
    name: 'State',
    cell: ({ state, code }) =>
      div(null, rolloutDeviceBadge(state), code === null ? null : small({ class: 'fault' }, said(code))),
  },
  {
    name: 'Transaction',
    cell: ({ transactionId, status }) =>
      transactionId === null
        ? nothing()
        : div(null, idLink(addressOf(['transactions', transactionId]), transactionId), small(null, said(status))),
    isEmpty: ({ transactionId }) => transactionId === null,
  },
  { name: 'Stage', kind: 'right', cell: ({ stage }) => String(stage) },
  {
    name: 'Commands',
    kind: 'right',
    cell: ({ attempts }) => (attempts === 0 ? nothing() : String(attempts)),
    isEmpty: ({ attempts }) => attempts === 0,
  },
  { name: 'Changed', kind: 'short', cell: ({ updatedAt }) => age(updatedAt) },
];

const CSV = [
  'deviceId',
  'stage',
  'state',
  'status',
  'transactionId',
  'attempts',
  'code',
  'updatedAt',
] as const satisfies readonly (keyof RolloutDevice)[];

function RolloutDevices({ rolloutId }: { rolloutId: string }) {
  const { state } = place.value.query;
  // The service accepts a code only beside a state.
  const query = { ...asked(state === undefined ? ['state'] : ['state', 'code']), limit: LIMIT };
  const rollout = useLoad(rolloutId, (signal) =>
    read<RolloutDetails>(operation({ operator: 'readFleetRollout', application: 'readRollout' }, { rolloutId }), {
      signal,
    }),
  );
  const list = { operator: 'listFleetRolloutDevices', application: 'listRolloutDevices' } as const;
  const page: Loading<Page<RolloutDevice>> = useLoad(
    JSON.stringify([rolloutId, query]),
    (signal) => readPage<RolloutDevice>(operation(list, { rolloutId }), 'devices', { query, signal }),
    { every: READ_EVERY },
  );
  const { value } = rollout.state.value;
  const hasCodes = state === 'failed' || state === 'refused' || state === 'cancelled';
  return [
    head({
      title: 'Devices of the rollout',
      trail: [
        [addressOf(['rollouts']), 'Rollouts'],
        [addressOf(['rollouts', rolloutId]), value ? nameOf(value) : rolloutId],
      ],
      state: value ? rolloutBadge(value) : null,
    }),
    filterBar(hasCodes ? [STATE, codeFilter(value?.errors ?? [], state)] : [STATE]),
    devicesCard({
      title: state === undefined ? 'All devices' : 'Matching devices',
      none: 'No matching devices',
      page,
      request: operation(list, { rolloutId }),
      query,
      columns: COLUMNS,
      csv: { name: 'rollout-devices', columns: CSV },
    }),
  ];
}

export const rolloutDevicesPage = (rolloutId: string): VNode => use(RolloutDevices, { rolloutId, key: rolloutId });
