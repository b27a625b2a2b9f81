import { termsOf } from './tag-terms.ts';
import { typed } from './typed.ts';

/**
 * Reads the changes of tags from the fields `set`, as `wave=1, site=osaka`, and `remove`, as `old, ring`. Throws an Error
 * that names what cannot be read.
 */
export function tagChangesOf(data: FormData): Record<string, string | null> {
  const set = termsOf(typed(data, 'set') ?? '').map((term): [string, string] => {
    const end = term.indexOf('=');
    if (end < 1) throw new Error(`"${term}" is no tag: write key=value.`);
    return [term.slice(0, end), term.slice(end + 1)];
  });
  const removed = (typed(data, 'remove') ?? '')
    .split(',')
    .map((key) => key.trim())
    .filter((key) => key !== '');
  const both = removed.find((key) => set.some(([one]) => one === key));
  if (both !== undefined) throw new Error(`The tag ${both} is both set and removed.`);
  if (set.length + removed.length === 0) throw new Error('Name a tag to set, or one to remove.');
  return { ...Object.fromEntries(set), ...Object.fromEntries(removed.map((key) => [key, null])) };
}
