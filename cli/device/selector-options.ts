import { MEMBER_STATES } from '@lapel/schemas/base/rollouts';
import type { SchemaTypes } from '@lapel/schemas/contracts/types';
import { type Given, readWhole } from '../line/command-line.ts';
import type { Options } from '../line/options.ts';
import { UsageError } from '../line/usage-error.ts';
import { readTime } from './duration.ts';

type Selector = SchemaTypes['common/device-selector'];
/** A selector as the query of a list has it. */
export type SelectorQuery = Pick<
  Partial<SchemaTypes['rest/own-device-query']>,
  | 'tag'
  | 'package'
  | 'version'
  | 'versionNot'
  | 'versionRange'
  | 'firmwareVersion'
  | 'firmwareVersionNot'
  | 'firmwareVersionRange'
  | 'lang'
  | 'rollout'
  | 'memberState'
  | 'batteryAtLeast'
  | 'charging'
  | 'networkType'
  | 'storageFreeAtLeast'
  | 'connected'
  | 'lastSeenWithin'
  | 'percent'
  | 'salt'
>;

type TextOption = Options[string] & { parameter: keyof SelectorQuery };

/** The options that are sent as they are, each with the parameter of the query that it becomes. */
export const SELECTOR_TEXTS: Readonly<Record<string, TextOption>> = {
  package: { parameter: 'package', value: 'NAME', text: 'only devices with this package installed' },
  version: { parameter: 'version', value: 'V', text: 'with --package: only devices with this version installed' },
  'version-not': {
    parameter: 'versionNot',
    value: 'V',
    text: 'with --package: only devices with another version, or without the package',
  },
  'version-range': {
    parameter: 'versionRange',
    value: 'RANGE',
    text: "with --package: only devices with a version in this range, such as '>=1.2.0 <2'",
  },
  'firmware-version': { parameter: 'firmwareVersion', value: 'V', text: 'only devices with this firmware version' },
  'firmware-version-not': {
    parameter: 'firmwareVersionNot',
    value: 'V',
    text: 'only devices that reported another firmware version, or none',
  },
  'firmware-version-range': {
    parameter: 'firmwareVersionRange',
    value: 'RANGE',
    text: "only devices with a firmware version in this range, such as '9.x'",
  },
  lang: { parameter: 'lang', value: 'LANGUAGE', text: 'only devices with this language, such as ja-JP' },
  'network-type': {
    parameter: 'networkType',
    value: 'TYPE',
    text: 'only devices that reported a network of this type, such as wifi',
  },
  'of-rollout': { parameter: 'rollout', value: 'ROLLOUT', text: 'only devices of this rollout' },
  'member-state': {
    parameter: 'memberState',
    value: 'STATE',
    choices: MEMBER_STATES,
    text: 'with --of-rollout: only devices in this state in the rollout',
  },
  salt: { parameter: 'salt', value: 'TEXT', text: 'with --percent: any text; each text makes other shares' },
};

export const TAG_OPTION = {
  value: 'TERM',
  many: true,
  text: "only devices with this tag, as site=osaka, or without a tag of this key, as '!site'; may be repeated, and of several values of one key a device must have one",
} satisfies Options[string];

export const PERCENT_OPTION = {
  value: 'N',
  text: 'only this share of the devices, in percent; it is the same share each time',
} satisfies Options[string];

/** The options that select devices by their tags, their reports, their connection, or as a share of all. */
export const SELECTOR_OPTIONS: Options = {
  tag: TAG_OPTION,
  ...SELECTOR_TEXTS,
  'battery-at-least': { value: 'N', text: 'only devices that reported at least so many percent of their battery' },
  charging: { text: 'only devices that reported that they are being charged' },
  'storage-free-at-least': { value: 'BYTES', text: 'only devices that reported at least so much free storage' },
  connected: { text: 'only devices that are connected now' },
  disconnected: { text: 'only devices that are not connected now' },
  'last-seen-within': { value: 'DURATION', text: 'only devices that sent something in this time: 90s, 30m, 2h, 7d' },
  percent: PERCENT_OPTION,
};

/** The options of commands that can also be given the devices one by one. */
export const DEVICES_OPTIONS: Options = {
  device: {
    value: 'DEVICE',
    many: true,
    greedy: /^\d{15}$/,
    text: 'these devices, instead of all that match other options; may be repeated, or followed by several',
  },
  ...SELECTOR_OPTIONS,
};

const TERM = /^(?:!([^=]+)|([^!=][^=]*)=(.+))$/s;

/** Splits a term into its key and its value; the value is null for `!key`. Throws a UsageError. */
function readTerm(term: string): [key: string, value: string | null] {
  const [, absent, key = '', value = ''] = TERM.exec(term) ?? [];
  if (absent !== undefined) return [absent, null];
  if (key === '') throw new UsageError('--tag', `"${term}" is no term; write KEY=VALUE, or '!KEY'`);
  return [key, value];
}

/** The terms of tags by their keys, as a selector has them. Throws a UsageError. */
function readTags(terms: readonly string[]): NonNullable<Selector['tags']> {
  const tags = new Map<string, string[]>();
  const without = new Set<string>();
  for (const [key, value] of terms.map(readTerm)) {
    if (value === null) without.add(key);
    else tags.set(key, [...(tags.get(key) ?? []), value]);
  }
  const both = [...without].find((key) => tags.has(key));
  if (both !== undefined) throw new UsageError('--tag', `!${both} and ${both}=... contradict each other`);
  return Object.fromEntries([...tags, ...[...without].map((key) => [key, null] as const)]);
}

/** Reads the options that select devices, as the query of a list. Throws a UsageError. */
export function readSelectorQuery(given: Given): SelectorQuery {
  const tag = given.list('tag');
  readTags(tag);
  if (given.flag('connected') && given.flag('disconnected'))
    throw new UsageError('--disconnected', 'cannot be combined with --connected');
  const [within, percent] = [given.text('last-seen-within'), given.text('percent')];
  const [battery, storage] = [given.text('battery-at-least'), given.text('storage-free-at-least')];
  const texts = Object.entries(SELECTOR_TEXTS).flatMap(([name, { parameter }]) => {
    const text = given.text(name);
    return text === undefined ? [] : [[parameter, text] as const];
  });
  return {
    ...(tag.length > 0 && { tag }),
    ...Object.fromEntries(texts),
    ...(battery !== undefined && { batteryAtLeast: readWhole('battery-at-least', battery) }),
    ...(storage !== undefined && { storageFreeAtLeast: readWhole('storage-free-at-least', storage) }),
    ...(given.flag('charging') && { charging: 'true' }),
    ...(given.flag('connected') && { connected: 'true' }),
    ...(given.flag('disconnected') && { connected: 'false' }),
    ...(within !== undefined && { lastSeenWithin: readTime('last-seen-within', within) }),
    ...(percent !== undefined && { percent: readWhole('percent', percent) }),
  };
}

/**
 * Reads the options that select devices, as a selector; `{}`, without any of them, selects all devices. Throws a
 * UsageError.
 */
export function readSelector(given: Given): Selector {
  const { tag, connected, charging, ...rest } = readSelectorQuery(given);
  const selector: Selector = {
    ...rest,
    ...(tag && { tags: readTags(tag) }),
    ...(connected !== undefined && { connected: connected === 'true' }),
    ...(charging !== undefined && { charging: charging === 'true' }),
  };
  const devices = given.list('device');
  if (devices.length === 0) return selector;
  if (Object.keys(selector).length > 0)
    throw new UsageError('--device', 'cannot be combined with other options that select devices');
  return { devices };
}
