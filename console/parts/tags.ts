import { a, li, span, ul, type VNode } from '../base/elements.ts';
import { visible } from '../base/format.ts';
import { addressOf } from '../base/place.ts';

/** The address of the list of devices that have a tag. */
export const devicesWith = (key: string, value: string): string => addressOf(['devices'], { tag: `${key}=${value}` });

/** The most tags that a row of a list shows. */
const MOST = 3;

/** Some tags of a device; each leads to the devices that have it. Null without tags. */
export function tagChips(tags: Readonly<Record<string, string>>): VNode | null {
  const all = Object.entries(tags);
  if (all.length === 0) return null;
  const rest = all.length - MOST;
  return ul(
    { class: 'tags', 'aria-label': 'Tags' },
    all.slice(0, MOST).map(([key, value]) => {
      const words = visible(`${key}=${value}`);
      return li({ key }, a({ href: devicesWith(key, value), title: words }, words));
    }),
    rest > 0 ? li(null, span({ class: 'quiet' }, `+${rest}`)) : null,
  );
}
