/** The most tags of one device. */
export const MOST_TAGS = 32;

/** Changes of tags: a value sets the tag of its key, null removes it. */
export type TagPatch = Readonly<Record<string, string | null>>;

type Tags = Readonly<Record<string, string>>;

/** The changes that a patch means for a device: only those that change something. */
export const changesOf = (tags: Tags, patch: TagPatch): [key: string, value: string | null][] =>
  Object.entries(patch).filter(([key, value]) => (Object.hasOwn(tags, key) ? tags[key] !== value : value !== null));

/** The tags of a device after a patch, in the order of their keys; undefined when they would be too many. */
export function patched(tags: Tags, patch: TagPatch): Tags | undefined {
  const kept = Object.entries({ ...tags, ...patch }).filter((entry): entry is [string, string] => entry[1] !== null);
  if (kept.length > MOST_TAGS) return undefined;
  return Object.fromEntries(kept.toSorted(([one], [other]) => (one < other ? -1 : 1)));
}
