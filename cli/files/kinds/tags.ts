import type { SchemaTypes } from '@lapel/schemas/contracts/types';
import type { Application } from '../../account/access.ts';
import { Failure } from '../../show/failure.ts';
import { digestOf } from '../plan/compare.ts';
import { Conflict } from '../plan/conflict.ts';
import type { ApplicationContext } from '../plan/context.ts';
import { type Change, type Finding, refuse, UNCHANGED } from '../plan/plan.ts';
import type { Entry } from '../read/configuration.ts';
import { selectedDevices, type Tags } from './selected-devices.ts';

type Wanted = SchemaTypes['files/tagging'];
type Patch = SchemaTypes['common/tag-patch'];

/** The most devices that an entry changes, unless it says otherwise. */
const MOST_DEVICES = 1000;
/** The most tags of a device. */
const MOST_TAGS = 32;
/** The most devices that one request can name. */
const AT_ONCE = 10_000;

/** Devices that get the same change of tags. */
interface Difference {
  patch: Patch;
  /** Whether these devices do not match: they lose the tags of an exclusive entry. */
  isSurplus: boolean;
  /** The present values of the changed keys, by deviceId. */
  devices: Map<string, Tags>;
}

const described = ({ value, place }: Entry<Wanted>) => ({ kind: 'tags', name: value.name, place }) as const;

const differs = (tags: Tags, key: string, value: string | null | undefined): boolean => (tags[key] ?? null) !== value;

/** The number of tags that a device would have. */
function tagsAfter(tags: Tags, patch: Patch): number {
  const after: Patch = { ...tags, ...patch };
  return Object.values(after).filter((value) => value !== null).length;
}

/** The devices that match, and differ from the tags of the entry; and those that match no more, if it is exclusive. */
async function differencesOf(application: Application, { devices, tags, exclusive }: Wanted) {
  const matching = await selectedDevices(application, devices);
  const keys = Object.keys(tags);
  const changed = [...matching].filter(([, present]) => keys.some((key) => differs(present, key, tags[key])));
  const differences: Difference[] = [{ patch: tags, isSurplus: false, devices: new Map(changed) }];
  for (const key of exclusive ? keys : []) {
    const value = tags[key];
    if (value === null || value === undefined) continue;
    const having = await selectedDevices(application, { tags: { [key]: value } });
    const surplus = [...having].filter(([deviceId]) => !matching.has(deviceId));
    differences.push({ patch: { [key]: null }, isSurplus: true, devices: new Map(surplus) });
  }
  return { matching, differences: differences.filter((one) => one.devices.size > 0) };
}

/** The state that a change depends on: the devices, and the tags that it changes. */
const stateOf = (differences: readonly Difference[]): string =>
  digestOf(
    differences.map(({ patch, devices }) => [
      patch,
      [...devices]
        .map(([deviceId, tags]) => [deviceId, ...Object.keys(patch).map((key) => tags[key] ?? null)])
        .sort(([one], [other]) => (String(one) < String(other) ? -1 : 1)),
    ]),
  );

function changesOf(matching: number, differences: readonly Difference[]): Change[] {
  return differences.flatMap(({ patch, devices, isSurplus }) =>
    Object.entries(patch).flatMap(([key, value]): Change[] => {
      const number = [...devices.values()].filter((tags) => differs(tags, key, value)).length;
      if (number === 0) return [];
      const which = isSurplus
        ? `${number} of the devices that do not match`
        : `${number} of ${matching} matching devices`;
      return [{ field: key, before: which, after: value ?? 'no tag' }];
    }),
  );
}

/** Compares the tags of devices that selectors match. */
export async function planTags({ application, configuration }: ApplicationContext): Promise<Finding[]> {
  const findings: Finding[] = [];
  const given = new Map<string, { value: string | null; name: string }>();
  for (const entry of configuration.tags) {
    const circle = circleOf(entry, configuration.tags);
    findings.push(
      ...(circle === undefined ? await compare(application, { entry, given }) : refuse(described(entry), circle)),
    );
  }
  return findings;
}

/** A selector of tags that the files set themselves: each apply would change what the next one matches. */
function circleOf({ value }: Entry<Wanted>, all: readonly Entry<Wanted>[]): string | undefined {
  const keys = Object.keys(value.devices.tags ?? {});
  const other = all.find((one) => one.value !== value && keys.some((key) => key in one.value.tags));
  if (other) return `its selector names a tag that "${other.value.name}" changes; select by what that one selects by`;
  const isOwn = value.exclusive && keys.some((key) => key in value.tags);
  return isOwn ? 'it is exclusive, and its selector names a tag that it changes itself' : undefined;
}

async function compare(
  application: Application,
  { entry, given }: { entry: Entry<Wanted>; given: Map<string, { value: string | null; name: string }> },
): Promise<Finding[]> {
  const { value } = entry;
  const about = described(entry);
  const { matching, differences } = await differencesOf(application, value);
  for (const deviceId of matching.keys()) {
    for (const [key, wanted] of Object.entries(value.tags)) {
      const before = given.get(`${deviceId} ${key}`);
      if (before && before.value !== wanted)
        return refuse(about, `"${before.name}" gives the tag ${key} of ${deviceId} another value`);
      given.set(`${deviceId} ${key}`, { value: wanted, name: value.name });
    }
  }
  if (differences.length === 0) return [UNCHANGED];
  const number = new Set(differences.flatMap(({ devices }) => [...devices.keys()])).size;
  const most = value.mostDevices ?? MOST_DEVICES;
  if (number > most)
    return refuse(about, `it would change ${number} devices, and mostDevices is ${most}; raise it if that is meant`);
  const [full] = [...matching].filter(([, tags]) => tagsAfter(tags, value.tags) > MOST_TAGS);
  if (full) return refuse(about, `${full[0]} would have more than ${MOST_TAGS} tags`);
  const seen = stateOf(differences);
  const step = {
    ...about,
    action: 'change',
    changes: changesOf(matching.size, differences),
    notes: [`devices that match: ${matching.size}; devices that are changed: ${number}`],
    seen,
    resource: '/tags',
    async carryOut(): Promise<void> {
      const now = await differencesOf(application, value);
      if (stateOf(now.differences) !== seen) throw new Conflict();
      for (const one of now.differences) await change(application, one);
    },
  } as const;
  return [{ step }];
}

/** Changes the devices that the plan has counted, and no others that match meanwhile. */
async function change(application: Application, { patch, devices }: Difference): Promise<void> {
  const all = [...devices.keys()];
  for (let start = 0; start < all.length; start += AT_ONCE) {
    const some = { devices: all.slice(start, start + AT_ONCE) };
    const { refused, refusedDevices } = await application.call('change the tags', (lapel) =>
      lapel.updateTagsOfMany({ body: { devices: some, tags: patch } }),
    );
    if (refused > 0)
      throw new Failure(`${refused} devices would have more than 32 tags, and stay as they were`, {
        advice: [`among them ${refusedDevices.join(', ')}`],
      });
  }
}
