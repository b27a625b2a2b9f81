import { filterWords } from '../base/device-filter.ts';
import { a, div, li, small, span, ul, type VNode } from '../base/elements.ts';
import { count, counted, visible } from '../base/format.ts';
import { addressOf } from '../base/place.ts';
import type { ActionDevice, DeviceAction } from '../base/rows.ts';
import { age, badge, said, type Tone } from './show.ts';
import type { Column } from './table.ts';

/** The names of actions, as on a button. */
export const ACTION_NAMES: Readonly<Record<DeviceAction['action'], string>> = {
  tag: 'Change tags',
  block: 'Block',
  unblock: 'Unblock',
  move: 'Move to another application',
  cancel: 'Cancel commands',
  delete: 'Delete',
};

const STATES: Readonly<Record<DeviceAction['state'], Tone>> = {
  gathering: 'calm',
  running: 'calm',
  completed: 'good',
  stopped: 'warn',
  refused: 'bad',
};
const WORDS: Partial<Record<DeviceAction['state'], string>> = { gathering: 'finding devices' };

export const actionBadge = ({ state }: Pick<DeviceAction, 'state'>): VNode =>
  badge(STATES[state] ?? '', WORDS[state] ?? state);

const REASONS: Readonly<Record<NonNullable<DeviceAction['reason']>, string>> = {
  REQUESTED: 'Somebody stopped it. What was changed stays; the devices that waited stay as they were.',
  DATABASE_RESTORED:
    'A backup of the database was restored while it was at work, so it was stopped. Look what was changed before you begin it again.',
  MORE_THAN_CONFIRMED: 'More devices match than were confirmed, so nothing was changed. Count them again.',
  TOO_MANY_DEVICES: 'More devices match than an action may have, so nothing was changed. Use a narrower filter.',
};

/** Why an action was stopped or refused, in a sentence. */
export const whyStopped = ({ reason }: Pick<DeviceAction, 'reason'>): string | null =>
  reason === null ? null : (REASONS[reason] ?? visible(reason));

const DEVICES: Readonly<Record<ActionDevice['state'], readonly [tone: Tone, style: string, words: string]>> = {
  done: ['good', 'is-succeeded', 'done'],
  unchanged: ['good', 'is-unchanged', 'unchanged: were so already'],
  skipped: ['warn', 'is-cancelled', 'skipped: do not match any more'],
  refused: ['bad', 'is-failed', 'refused: cannot be changed'],
  waiting: ['', '', 'waiting'],
};
export const ACTION_DEVICE_STATES = Object.keys(DEVICES) as ActionDevice['state'][];
export const actionDeviceBadge = (state: ActionDevice['state']): VNode => badge(DEVICES[state]?.[0] ?? '', state);

const CODES: Readonly<Record<string, string>> = {
  NO_LONGER_MATCHES: 'it did not match the filter any more',
  DEVICE_NOT_FOUND: 'it was gone',
  DEVICE_NOT_ACTIVATED: 'it is not activated, so it has no tags',
  DEVICE_IN_USE: 'it is activated',
  DEVICE_UNAVAILABLE: 'it belongs to another developer',
  TOO_MANY_TAGS: 'it would have too many tags',
  ACTIVATION_LIMIT: 'the contract of the developer has no room',
};
/** A code with its meaning for people, where the code alone says little. */
export const codeWords = (code: string): string =>
  visible(CODES[code] === undefined ? code : `${code}: ${CODES[code]}`);

/** The devices that wait; after the end of an action nothing comes to them any more. */
const waitingWords = (endedAt: string | null): string => (endedAt === null ? 'waiting' : 'left as they were');

/** The numbers of devices in each state, in words. */
export const actionWords = ({
  counts,
  devices,
  endedAt,
}: Pick<DeviceAction, 'counts' | 'devices' | 'endedAt'>): string => {
  const parts = ACTION_DEVICE_STATES.filter((state) => counts[state] > 0).map(
    (state) => `${count(counts[state])} ${state === 'waiting' ? waitingWords(endedAt) : state}`,
  );
  return parts.length === 0 ? counted(devices, 'device') : `${counted(devices, 'device')}: ${parts.join(', ')}`;
};

/** A bar of the devices of an action by what became of them. */
export const actionBar = (action: Pick<DeviceAction, 'counts' | 'devices' | 'endedAt'>): VNode =>
  div(
    { class: 'parts', role: 'img', 'aria-label': actionWords(action) },
    ACTION_DEVICE_STATES.filter((state) => state !== 'waiting' && action.counts[state] > 0).map((state) =>
      span({
        key: state,
        class: DEVICES[state][1],
        style: { width: `${(action.counts[state] / Math.max(1, action.devices)) * 100}%` },
      }),
    ),
  );

/** The devices by what became of them, as a legend of the bar; each leads to its devices. */
export const actionLegend = ({
  actionId,
  counts,
  endedAt,
}: Pick<DeviceAction, 'actionId' | 'counts' | 'endedAt'>): VNode =>
  ul(
    { class: 'parts-legend', 'aria-label': 'Devices by state' },
    ACTION_DEVICE_STATES.filter((state) => counts[state] > 0).map((state) =>
      li(
        { key: state, class: DEVICES[state][1] },
        a(
          { href: addressOf(['device-actions', actionId, 'devices'], { state }) },
          `${count(counts[state])} ${state === 'waiting' ? waitingWords(endedAt) : DEVICES[state][2]}`,
        ),
      ),
    ),
  );

export const ACTION_COLUMNS: readonly Column<DeviceAction>[] = [
  {
    name: 'Action',
    kind: 'lead',
    cell: ({ actionId, action, applicationId, filter }) => [
      a({ href: addressOf(['device-actions', actionId]) }, ACTION_NAMES[action] ?? visible(action)),
      applicationId === undefined ? null : small(null, 'to ', said(applicationId)),
      small(null, filterWords(filter)),
    ],
  },
  { name: 'State', cell: actionBadge },
  {
    name: 'Progress',
    cell: (action) => div({ class: 'stack tight' }, actionBar(action), small(null, actionWords(action))),
  },
  { name: 'Begun', kind: 'short', cell: ({ createdAt }) => age(createdAt) },
];
