import { readSelector } from '../../core/selection/read-selector.ts';
import { createTagging } from '../../core/selection/tagging.ts';
import type { Answer } from '../http/route.ts';
import type { ApiServices, AtApplication, AtDevice } from './services.ts';

/** Reads the tags of a device. */
export async function readTags({ tags }: ApiServices, { params, caller }: AtDevice): Promise<Answer> {
  return { status: 200, body: await tags.find(caller, params.deviceId) };
}

/** Changes tags of a device; the answer has all its tags. */
export async function updateTags(
  { tags }: ApiServices,
  { params, caller, body }: AtDevice<'common/tag-patch'>,
): Promise<Answer> {
  return { status: 200, body: await tags.update(caller, params.deviceId, body) };
}

/** Changes tags of all devices that a selector matches. */
export async function updateTagsOfMany(
  { tags, selection, clock }: ApiServices,
  { params, body }: AtApplication<'rest/tagging'>,
): Promise<Answer> {
  const selector = readSelector(body.devices, clock.now());
  const tagged = await createTagging({ selection, tags })(params.applicationId, selector, body.tags);
  return { status: 200, body: tagged };
}
