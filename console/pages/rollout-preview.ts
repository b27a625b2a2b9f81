import { type Child, div, dl, p, type VNode } from '../base/elements.ts';
import { count, counted } from '../base/format.ts';
import type { DeviceCount } from '../base/rows.ts';
import { bars } from '../parts/bars.ts';
import { trouble } from '../parts/loaded.ts';
import { card, fact, skeleton } from '../parts/show.ts';

/** What is known about the devices that the fields of the form select. */
export interface Counted {
  /** The last answer; undefined before the first one, and while no device is selected. */
  value: DeviceCount | undefined;
  /** The error of the last attempt. */
  error: Error | null;
  /** True until the answer for the present fields has come. */
  isAsking: boolean;
}

const MOST_BARS = 5;

/** The most frequent versions; `none`: the words for devices without one. */
function versions(title: string, all: NonNullable<DeviceCount['versions']>, none: string): Child {
  if (all.length === 0) return null;
  const rest = all.slice(MOST_BARS).reduce((sum, { devices }) => sum + devices, 0);
  return div(
    { class: 'stack tight' },
    p({ class: 'small soft' }, title),
    bars(
      title,
      all.slice(0, MOST_BARS).map(({ version, devices }) => ({ label: version ?? none, value: devices })),
    ),
    rest === 0 ? null : p({ class: 'quiet small' }, `and ${counted(rest, 'other device')}`),
  );
}

/** Says how many devices match, in one line. */
export function matchWords({ value, error, isAsking }: Counted): string {
  if (error) return 'The number of matching devices is not known.';
  if (value === undefined) return isAsking ? 'Counting the matching devices ...' : 'No device is selected yet.';
  const about = value.estimate ? 'About ' : '';
  const words = `${about}${counted(value.matching, 'device')} ${value.matching === 1 ? 'matches' : 'match'}, ${count(value.connected)} of them connected now`;
  return isAsking ? `${words} ...` : `${words}.`;
}

/** The card beside the form: the devices that match now, and what they have. */
export function rolloutPreview({ value, error, isAsking }: Counted): VNode {
  if (error) return card({ title: 'Now' }, trouble(error));
  if (value === undefined)
    return card({ title: 'Now' }, isAsking ? skeleton(3) : p({ class: 'quiet' }, 'No device is selected yet.'));
  const about = value.estimate ? 'about ' : '';
  return card(
    { title: 'Now', bare: true },
    dl(
      { class: 'facts' },
      fact('Match', `${about}${counted(value.matching, 'device')}`),
      fact('Connected', `${about}${count(value.connected)}`),
    ),
    div(
      { class: 'pad stack' },
      value.versions ? versions('Versions that they have', value.versions, 'not installed') : null,
      versions('Firmware that they have', value.firmwareVersions, 'not reported'),
    ),
  );
}
