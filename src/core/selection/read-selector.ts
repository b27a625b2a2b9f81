import { DomainError, type Fault } from '@lapel/schemas/contracts/errors';
import type { DeviceSelector, FleetDeviceQuery, OwnDeviceQuery } from '@lapel/schemas/contracts/types';
import type { Micros } from '../../runtime/units.ts';
import type { Selector, TagTerm, Terms, VersionRange } from './selector.ts';
import { MOST_TAG_TERMS, MOST_TAG_VALUES } from './term-conditions.ts';
import { readVersionRange } from './version-range.ts';

type TermNames =
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
  | 'networkType'
  | 'storageFreeAtLeast'
  | 'lastSeenWithin'
  | 'percent'
  | 'salt';

/** The terms that have one form in bodies and in queries. They were checked by their schemas. */
type GivenTerms = { [Name in TermNames]?: DeviceSelector[Name] | undefined };

/** The terms of the query of an application's own list that the list of the whole fleet does not have. */
type OwnTerms = Pick<
  Partial<OwnDeviceQuery>,
  'rollout' | 'memberState' | 'batteryAtLeast' | 'charging' | 'networkType' | 'storageFreeAtLeast'
>;

const MICROS = 1_000_000;

/** Which term has a meaning only beside which other one. */
const NEEDS: readonly (readonly [term: TermNames, needed: TermNames])[] = [
  ['version', 'package'],
  ['versionNot', 'package'],
  ['versionRange', 'package'],
  ['salt', 'percent'],
  ['memberState', 'rollout'],
];

type Given<Term> = { [Name in keyof Term]?: Exclude<Term[Name], undefined> };

/** Removes the members that are undefined; undefined when none is left. */
function given<Term extends object>(term: Term): Given<Term> | undefined {
  const members = Object.entries(term).filter(([, value]) => value !== undefined);
  return members.length === 0 ? undefined : (Object.fromEntries(members) as Given<Term>);
}

/** Turns terms into the form that is judged; adds what is wrong with them to `faults`. `place` is where they stand. */
function readTerms(
  terms: GivenTerms,
  { now, place, faults }: { now: Micros; place: string[]; faults: Fault[] },
): Terms {
  for (const [term, needed] of NEEDS) {
    if (terms[term] !== undefined && terms[needed] === undefined)
      faults.push({ loc: [...place, needed], msg: 'Field required', type: 'missing' });
  }
  const range = (name: 'versionRange' | 'firmwareVersionRange'): VersionRange | undefined => {
    const text = terms[name];
    const read = text === undefined ? undefined : readVersionRange(text);
    const msg = 'Input should be a SemVer range, such as >=1.2.0 <2.0.0';
    if (text !== undefined && !read) faults.push({ loc: [...place, name], msg, type: 'string_pattern_mismatch' });
    return read;
  };
  const version = { is: terms.version, not: terms.versionNot, range: range('versionRange') };
  const firmware = { is: terms.firmwareVersion, not: terms.firmwareVersionNot, range: range('firmwareVersionRange') };
  return (
    given({
      package: terms.package,
      version: given(version),
      firmwareVersion: given(firmware),
      lang: terms.lang?.toLowerCase(),
      batteryAtLeast: terms.batteryAtLeast,
      networkType: terms.networkType,
      storageFreeAtLeast: terms.storageFreeAtLeast,
      member: terms.rollout === undefined ? undefined : { rolloutId: terms.rollout, state: terms.memberState },
      seenSince: terms.lastSeenWithin === undefined ? undefined : now - terms.lastSeenWithin * MICROS,
      share: terms.percent === undefined ? undefined : { percent: terms.percent, salt: terms.salt ?? '' },
    }) ?? {}
  );
}

/** Reads the parameters `tag` of a query: `key=value`, or `!key`. */
function readTags(written: readonly string[], place: readonly string[], faults: Fault[]): TagTerm[] {
  const terms = new Map<string, { key: string; values: string[]; isAbsent: boolean }>();
  const wrong = (msg: string) => faults.push({ loc: [...place, 'tag'], msg, type: 'less_than_equal' });
  for (const text of written) {
    const isAbsent = text.startsWith('!');
    const key = isAbsent ? text.slice(1) : text.slice(0, text.indexOf('='));
    const term = terms.get(key) ?? { key, values: [], isAbsent };
    terms.set(key, term);
    if (!isAbsent) term.values.push(text.slice(key.length + 1));
    if (term.isAbsent !== isAbsent) wrong(`Input should not ask for ${key} and for its absence`);
    if (term.values.length > MOST_TAG_VALUES) wrong(`Input should have at most ${MOST_TAG_VALUES} values of ${key}`);
  }
  if (terms.size > MOST_TAG_TERMS) wrong(`Input should name at most ${MOST_TAG_TERMS} keys`);
  return [...terms.values()].map(({ key, values }) => ({ key, values }));
}

/**
 * Reads the terms of the query of a list of devices; `place` is where they stand. Throws REQUEST_INVALID with every fault that the schema of the query
 * cannot find.
 */
export function readTermsOfQuery(
  query: Omit<FleetDeviceQuery, 'sort' | 'limit'> & OwnTerms,
  now: Micros,
  place: string[] = ['query'],
): Terms {
  const faults: Fault[] = [];
  const { firmware, connected, charging, tag } = query;
  const terms = readTerms(query, { now, place, faults });
  if (firmware !== undefined && query.firmwareVersion !== undefined) {
    const msg = 'Input should not be given beside firmware, which means the same';
    faults.push({ loc: [...place, 'firmwareVersion'], msg, type: 'extra_forbidden' });
  }
  const tags = tag && readTags(tag, place, faults);
  if (faults.length > 0) throw DomainError.invalid(...faults);
  return {
    ...terms,
    ...(tags && { tags }),
    ...(firmware !== undefined && {
      firmwareVersion: { ...terms.firmwareVersion, is: firmware === '' ? null : firmware },
    }),
    ...(connected !== undefined && { connected: connected === 'true' }),
    ...(charging !== undefined && { charging: charging === 'true' }),
  };
}

/**
 * Reads a selector of a body, at the member `devices`. Throws REQUEST_INVALID with every fault that the schema of the body
 * cannot find.
 */
export function readSelector(written: DeviceSelector, now: Micros): Selector {
  const { devices, tags, connected, charging, ...rest } = written;
  const faults: Fault[] = [];
  const place = ['body', 'devices'];
  if (devices) {
    for (const name of Object.keys(written).filter((one) => one !== 'devices'))
      faults.push({ loc: [...place, name], msg: 'Input should not be given beside devices', type: 'extra_forbidden' });
  }
  const terms = readTerms(rest, { now, place, faults });
  if (faults.length > 0) throw DomainError.invalid(...faults);
  if (devices) return { devices: [...new Set(devices)] };
  const tagTerms = Object.entries(tags ?? {}).map(([key, value]) => ({
    key,
    values: value === null ? [] : [value].flat(),
  }));
  return {
    terms: {
      ...terms,
      ...(tagTerms.length > 0 && { tags: tagTerms }),
      ...(connected !== undefined && { connected }),
      ...(charging !== undefined && { charging }),
    },
  };
}
