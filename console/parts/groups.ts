import { type Child, p } from '../base/elements.ts';
import { counted } from '../base/format.ts';
import { addressOf, type Query } from '../base/place.ts';
import { bars } from './bars.ts';
import { card } from './show.ts';

const MOST_BARS = 10;

export interface Group {
  /** Null for devices that have reported no value. */
  value: string | null;
  devices: number;
}

interface Groups {
  title: string;
  groups: readonly Group[];
  /** The devices in groups that are not among these. */
  others?: number;
  /** The filters of the list with the devices of a group. */
  query(value: string): Query;
  /** What is said without groups. */
  none: string;
  /** The words for a number of devices; by default the number. */
  text?(devices: number): string;
}

/** The filters for devices whose battery is in a range such as `40-49`. */
export function batteryQuery(range: string): Query {
  const [from = '0', to = '100'] = range.split('-');
  return { batteryFrom: from, ...(to !== '100' && { batteryBelow: String(Number(to) + 1) }) };
}

/** The bars of groups of devices, each of which leads to its devices. */
export function groupBars({ title, groups, others = 0, query, none, text }: Groups): Child {
  if (groups.length === 0) return p({ class: 'quiet' }, none);
  const rows = groups.slice(0, MOST_BARS).map(({ value, devices }) => ({
    label: value ?? 'not reported',
    value: devices,
    ...(text && { text: text(devices) }),
    ...(value !== null && { href: addressOf(['devices'], query(value)) }),
  }));
  const rest = others + groups.slice(MOST_BARS).reduce((sum, { devices }) => sum + devices, 0);
  return [bars(title, rows), rest > 0 ? p({ class: 'quiet small' }, `and ${counted(rest, 'other device')}`) : null];
}

/** A card with the bars of groups. */
export const groupsCard = (groups: Groups): Child => card({ title: groups.title }, groupBars(groups));
