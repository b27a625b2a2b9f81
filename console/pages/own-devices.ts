import { a, button, type Child, small } from '../base/elements.ts';
import { counted } from '../base/format.ts';
import { fieldsOf, listSelector, unfitFor } from '../base/list-selector.ts';
import { addressOf, place } from '../base/place.ts';
import { operation, read } from '../base/requests.ts';
import type { DeviceCount, DeviceSelector, Tagged } from '../base/rows.ts';
import { mayChange } from '../base/session.ts';
import { tagChangesOf } from '../base/tag-changes.ts';
import { act, ask } from '../parts/dialog.ts';
import { tagChangeFields } from '../parts/fields.ts';

/** Counts the devices, and asks for the changes of their tags. */
const tagAll = (devices: DeviceSelector): void =>
  act(async () => {
    const { matching, estimate } = await read<DeviceCount>(operation('countDevices'), { json: { devices } });
    const words = `${estimate ? 'about ' : ''}${counted(matching, 'device')}`;
    ask({
      title: `Change the tags of ${words}?`,
      text: 'These are all devices that match the filters, also those on other pages. Their other tags stay as they are.',
      fields: tagChangeFields(),
      does: 'Change the tags',
      async act(data) {
        const json = { devices, tags: tagChangesOf(data) };
        const { changed, refused } = await read<Tagged>(operation('updateTagsOfMany'), { json });
        const rest =
          refused === 0 ? '' : ` ${counted(refused, 'device')} would have too many tags, and stay as they were.`;
        return `The tags of ${counted(changed, 'device')} were changed.${rest}`;
      },
    });
    return undefined;
  });

/** The buttons with which an application tags all devices that match the filters of its list, or rolls out to them. */
export function ownDevices(): Child {
  if (!mayChange('device')) return null;
  const { query } = place.value;
  const unfit = unfitFor(query);
  if (unfit.length > 0)
    return small({ class: 'quiet' }, `To tag all that match, or roll out to them: remove ${unfit.join(', ')}.`);
  return [
    button({ type: 'button', class: 'tiny', onClick: () => tagAll(listSelector(query)) }, 'Tag all that match ...'),
    a({ class: 'button tiny', href: addressOf(['rollouts', 'new'], fieldsOf(query)) }, 'Roll out to all that match'),
  ];
}
