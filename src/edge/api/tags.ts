import { readSelector } from '../../core/selection/read-selector.ts';
import { createTagging } from '../../core/selection/tagging.ts';
import { entityTag, matcher } from '../http/entity-tag.ts';
import type { Answer } from '../http/route.ts';
import type { ApiServices, AtApplication, AtDevice } from './services.ts';

type Services = Pick<ApiServices, 'tags' | 'selection' | 'clock'>;

const stateOf = (tags: Readonly<Record<string, string>>): unknown =>
  Object.entries(tags).toSorted(([one], [other]) => (one < other ? -1 : 1));

/** Reads the tags of a device. */
export async function readTags({ tags }: Services, { params, caller }: AtDevice): Promise<Answer> {
  const body = await tags.find(caller, params.deviceId);
  return { status: 200, headers: { ETag: entityTag(stateOf(body)) }, body };
}

/** Changes tags of a device; the answer has all its tags. */
export async function updateTags(
  { tags }: Services,
  { params, caller, body, headers }: AtDevice<'common/tag-patch'>,
): Promise<Answer> {
  const check = matcher(headers);
  const all = await tags.update(caller, params.deviceId, body, (known) => check(stateOf(known)));
  return { status: 200, headers: { ETag: entityTag(stateOf(all)) }, body: all };
}

/** Changes tags of all devices that a selector matches, or answers how many that would be. */
export async function updateTagsOfMany(
  { tags, selection, clock }: Services,
  { params, body, changed }: AtApplication<'rest/tagging'>,
): Promise<Answer> {
  const selector = readSelector(body.devices, clock.now());
  const tagged = await createTagging({ selection, tags })(params.applicationId, selector, body.tags, body.dryRun);
  if (body.dryRun) await changed({ dryRun: true, devices: tagged.changed });
  return { status: 200, body: tagged };
}
