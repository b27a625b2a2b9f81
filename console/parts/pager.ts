import { a, div, span, type VNode } from '../base/elements.ts';
import { addressOf, place } from '../base/place.ts';

/** To the next page of a list, and back to its first; the browser's own way back leads to the one before. */
export function pager(next: string | null, shown: number): VNode | null {
  const { path, query } = place.value;
  const isFirst = query['after'] === undefined;
  if (isFirst && next === null) return null;
  return div(
    { class: 'row spread pad' },
    isFirst
      ? span({ class: 'quiet small' }, `The first ${shown}`)
      : a({ class: 'button', href: addressOf(path, { ...query, after: undefined }) }, 'First page'),
    next === null
      ? span({ class: 'quiet small' }, 'That is all.')
      : a({ class: 'button', href: addressOf(path, { ...query, after: next }), rel: 'next' }, 'Next page'),
  );
}
