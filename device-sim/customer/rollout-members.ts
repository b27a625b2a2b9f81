import type { RolloutBody } from './rollout-plan.ts';
import type { KnownMembers } from './rollout-snapshot.ts';
import type { Tags } from './tags.ts';

/** Whether a device with these tags has one of the wanted values; null: no tag of this key. */
const hasTag = (tags: Tags, key: string, wanted: string | readonly string[] | null): boolean =>
  wanted === null ? tags[key] === undefined : [wanted].flat().includes(tags[key] ?? '');

/**
 * The activated devices that a selector matches, and those that it does not match. Null if only the service can know them,
 * because the selector is about what the devices have reported, or about chance.
 */
export function membersOf(
  { devices, tags = {}, ...others }: RolloutBody['devices'],
  activated: ReadonlySet<string>,
  tagsOf: (deviceId: string) => Tags,
): KnownMembers | null {
  if (Object.keys(others).length > 0) return null;
  const listed = devices && new Set(devices);
  const wanted = Object.entries(tags as Record<string, string | string[] | null>);
  const matches = (deviceId: string): boolean =>
    listed?.has(deviceId) ?? wanted.every(([key, values]) => hasTag(tagsOf(deviceId), key, values));
  const all = [...activated];
  return { must: new Set(all.filter(matches)), mustNot: new Set(all.filter((deviceId) => !matches(deviceId))) };
}
