import type { TagPatch } from '../devices/tag-patch.ts';
import type { TagsOfDevices } from '../devices/tags.ts';
import type { Selection } from './selection.ts';
import type { Selector } from './selector.ts';

/** The devices that are changed in one unit of work, which must not delay others. */
const PER_UNIT = 100;
/** The devices that are examined at a time. */
const PER_PAGE = 1_000;
/** The refused devices that are named. */
const MOST_NAMED = 10;

interface Parts {
  selection: Pick<Selection, 'page'>;
  tags: Pick<TagsOfDevices, 'updateMany' | 'previewMany'>;
}

export interface Tagged {
  matching: number;
  changed: number;
  refused: number;
  refusedDevices: string[];
}

/**
 * Makes the function that changes the tags of all devices that a selector matches, some at a time; a dry run only counts
 * them. A caller can repeat it,
 * for example after a failure in between: the devices that have the tags already stay as they are.
 */
export const createTagging =
  ({ selection, tags }: Parts) =>
  async (applicationId: string, selector: Selector, patch: TagPatch, isDry = false): Promise<Tagged> => {
    const result: Tagged = { matching: 0, changed: 0, refused: 0, refusedDevices: [] };
    for (let after: string | undefined = ''; after !== undefined; ) {
      const { deviceIds, next }: Awaited<ReturnType<Selection['page']>> = await selection.page(
        applicationId,
        selector,
        {
          after,
          limit: PER_PAGE,
        },
      );
      result.matching += deviceIds.length;
      for (let start = 0; start < deviceIds.length; start += PER_UNIT) {
        const part = deviceIds.slice(start, start + PER_UNIT);
        const { changed, refused } = await (isDry
          ? tags.previewMany(part, patch)
          : tags.updateMany(applicationId, part, patch));
        result.changed += changed;
        result.refused += refused.length;
        result.refusedDevices.push(...refused.slice(0, MOST_NAMED - result.refusedDevices.length));
      }
      after = next;
    }
    return result;
  };
