import { visible } from './format.ts';
import type { DeviceFilter } from './rows.ts';
import { termsOf } from './tag-terms.ts';

/** Turns the filters of the list of devices into the filter of a device action, and back. */

const NUMBERS: readonly string[] = ['batteryBelow', 'batteryFrom', 'lastSeenWithin', 'percent'];
const FLAGS: readonly string[] = ['connected', 'blocked'];
/** Parts of the address of a list that select no devices. */
const OTHERS: readonly string[] = ['sort', 'after'];

type Query = Readonly<Record<string, string | undefined>>;

/** The filter that the address of the list has, which is also that of the rows on the page. */
export function filterOf(query: Query): DeviceFilter {
  const members = Object.entries(query).flatMap(([name, text]): [string, unknown][] => {
    if (text === undefined || OTHERS.includes(name)) return [];
    if (name === 'tag') return [[name, termsOf(text)]];
    if (NUMBERS.includes(name)) return [[name, Number(text)]];
    return [[name, FLAGS.includes(name) ? text === 'true' : text]];
  });
  return Object.fromEntries(members) as DeviceFilter;
}

/** The parameters of the list that shows the devices of a filter. */
export const queryOf = (filter: DeviceFilter): Record<string, string> =>
  Object.fromEntries(
    Object.entries(filter).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : String(value)]),
  );

const NAMES: Readonly<Record<keyof DeviceFilter, string>> = {
  prefix: 'deviceId begins with',
  developerId: 'Developer',
  applicationId: 'Application',
  activation: 'Activation',
  blocked: 'Blocked',
  tag: 'Tags',
  connected: 'Connected',
  firmware: 'Firmware',
  firmwareVersion: 'Firmware',
  firmwareVersionNot: 'Firmware is not',
  firmwareVersionRange: 'Firmware in the range',
  lang: 'Language',
  package: 'Package',
  version: 'Version',
  versionNot: 'Version is not',
  versionRange: 'Version in the range',
  batteryBelow: 'Battery below',
  batteryFrom: 'Battery from',
  notSeenFor: 'Not seen for',
  lastSeenWithin: 'Seen within',
  percent: 'Share in percent',
  salt: 'Salt of the share',
};

const words = (value: unknown): string =>
  typeof value === 'boolean'
    ? value
      ? 'yes'
      : 'no'
    : visible(Array.isArray(value) ? value.join(', ') : String(value));

/** The conditions of a filter in one line. */
export const filterWords = (filter: DeviceFilter): string =>
  conditionsOf(filter)
    .map(([name, value]) => `${name}: ${value}`)
    .join(', ') || 'all devices';

/** The conditions of a filter, each with its name. */
export const conditionsOf = (filter: DeviceFilter): [name: string, value: string][] =>
  Object.entries(filter).map(([name, value]) => [NAMES[name as keyof DeviceFilter] ?? visible(name), words(value)]);
