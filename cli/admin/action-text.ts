import type { SchemaTypes } from '@lapel/schemas/contracts/types';
import { oneLine } from '../show/plain-text.ts';
import { bar, count } from '../show/progress.ts';

export type ActionRecord = SchemaTypes['admin/device-action'];
type State = SchemaTypes['common/action-device-state'];

export const DEVICE_STATES = ['waiting', 'done', 'unchanged', 'skipped', 'refused'] as const satisfies readonly State[];

export const devicesText = (devices: number): string => (devices === 1 ? '1 device' : `${count(devices)} devices`);

/** The state of an action in a line. */
export function stateLine({ action, actionId, state, reason }: ActionRecord): string {
  const why = reason === null ? '' : ` (${reason})`;
  return oneLine(`${action} ${actionId}: ${state}${why}`);
}

/** The numbers of devices by what became of them: `812 devices: 805 done, 7 skipped`. */
export function countsLine({ devices, counts }: ActionRecord): string {
  const parts = DEVICE_STATES.filter((state) => counts[state] > 0).map((state) => `${count(counts[state])} ${state}`);
  return `${devicesText(devices)}${parts.length === 0 ? '' : `: ${parts.join(', ')}`}`;
}

/** How far an action is, as a line that changes. */
export function progressLine(action: ActionRecord): string {
  const { devices, counts, state } = action;
  if (state === 'gathering') return `finding devices: ${count(devices)} so far`;
  const share = devices === 0 ? 100 : (100 * (devices - counts.waiting)) / devices;
  return `${bar(share)}  ${countsLine(action)}`;
}

/** An action, with the reasons for which devices were not changed. */
export const actionLines = (action: ActionRecord): string[] => [
  stateLine(action),
  countsLine(action),
  ...action.reasons.map(({ state, code, devices }) => oneLine(`${devicesText(devices)} ${state}: ${code}`)),
];
