import { a, type Child, div, small, type VNode } from '../base/elements.ts';
import { count } from '../base/format.ts';
import { operationName } from '../base/operation-names.ts';
import { addressOf, ROLE } from '../base/place.ts';
import { countsWords, hasStoppedItself, nameOf } from '../base/rollout-words.ts';
import type { RolloutDevice, RolloutRow } from '../base/rows.ts';
import { named } from './named.ts';
import { rolloutBar } from './rollout-bar.ts';
import { age, badge, id, nothing, said, type Tone } from './show.ts';
import type { Column } from './table.ts';

/** The operations that a rollout can carry out. */
export const ROLLOUT_OPERATIONS = [
  'installSoftware',
  'updateFirmware',
  'setLanguage',
  'setConnectivityState',
  'setWifi',
  'setApn',
] as const satisfies readonly RolloutRow['operation'][];

const STATES: Record<RolloutRow['state'], Tone> = {
  scheduled: '',
  running: 'calm',
  paused: 'warn',
  completed: 'good',
  cancelled: 'warn',
};
export const ROLLOUT_STATES = Object.keys(STATES) as RolloutRow['state'][];

export const rolloutBadge = (rollout: Pick<RolloutRow, 'state' | 'reason'>): VNode =>
  badge(hasStoppedItself(rollout) ? 'bad' : (STATES[rollout.state] ?? ''), rollout.state);

const DEVICES: Record<RolloutDevice['state'], Tone> = {
  waiting: '',
  unfinished: 'calm',
  confirming: 'calm',
  succeeded: 'good',
  failed: 'bad',
  cancelled: 'warn',
  unchanged: 'good',
  refused: 'warn',
};
export const DEVICE_STATES = Object.keys(DEVICES) as RolloutDevice['state'][];
export const rolloutDeviceBadge = (state: RolloutDevice['state']): VNode => badge(DEVICES[state] ?? '', state);

/** The operation of a rollout with its subject. */
export const aboutRollout = ({ operation, subject }: Pick<RolloutRow, 'operation' | 'subject'>): Child =>
  subject === null ? operationName(operation) : [`${operationName(operation)} `, id(subject)];

export const rolloutColumns = (): Column<RolloutRow>[] => [
  {
    name: 'Rollout',
    kind: 'lead',
    cell: (row) => [
      a({ href: addressOf(['rollouts', row.rolloutId]) }, said(nameOf(row))),
      small(null, aboutRollout(row)),
    ],
  },
  ...(ROLE === 'operator'
    ? [
        {
          name: 'Application',
          cell: ({ applicationId }: RolloutRow) => named('applications', applicationId),
        },
      ]
    : []),
  {
    name: 'State',
    cell: (row) =>
      div(
        null,
        rolloutBadge(row),
        row.reason === null ? null : small(hasStoppedItself(row) ? { class: 'fault' } : null, said(row.reason)),
      ),
  },
  {
    name: 'Stage',
    kind: 'short',
    cell: ({ stage, stages }) => (stage === 0 ? nothing() : `${stage} of ${stages}`),
    isEmpty: ({ stage }) => stage === 0,
  },
  {
    name: 'Progress',
    cell: ({ counts }) => div({ class: 'stack tight' }, rolloutBar(counts), small(null, countsWords(counts))),
  },
  { name: 'Devices', kind: 'right', cell: ({ devices }) => count(devices) },
  { name: 'Created', kind: 'short', cell: ({ createdAt }) => age(createdAt) },
];
