import { a, div, span, type VNode } from '../base/elements.ts';
import { addressOf, place } from '../base/place.ts';

/** Links to the next and the first page of a list; the back button of the browser leads to the previous page. */
export function pager(next: string | null, shown: number): VNode | null {
  const { path, query } = place.value;
  const isFirst = query['after'] === undefined;
  if (isFirst && next === null) return null;
  return div(
    { class: 'row spread pad' },
    isFirst
      ? span({ class: 'quiet small' }, `Rows 1 to ${shown}`)
      : a({ class: 'button', href: addressOf(path, { ...query, after: undefined }) }, 'First page'),
    next === null
      ? span({ class: 'quiet small' }, 'End of the list')
      : a({ class: 'button', href: addressOf(path, { ...query, after: next }), rel: 'next' }, 'Next page'),
  );
}
