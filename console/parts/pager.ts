import { a, button, div, span, type VNode } from '../base/elements.ts';
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

/** For a list that is not the page's own: more of it below. */
export const more = (hasMore: boolean, load: () => void, isLoading: boolean): VNode | null =>
  hasMore
    ? div(
        { class: 'row pad' },
        button({ type: 'button', onClick: load, disabled: isLoading }, isLoading ? 'Loading ...' : 'Show more'),
      )
    : null;
