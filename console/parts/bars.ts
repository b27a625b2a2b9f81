import { a, div, li, span, ul, type VNode } from '../base/elements.ts';
import { count } from '../base/format.ts';
import { breakable } from './show.ts';

interface Bar {
  label: string;
  value: number;
  /** The length of the bar, from 0 to 1; by default that of its count beside the largest one. */
  share?: number;
  /** The words beside the bar; by default the count. */
  text?: string;
  /** The address of the list of the objects that the bar counts. */
  href?: string;
}

/** A bar chart of counts, or of shares. The largest count, and a share of all, has a bar of full length. */
export function bars(label: string, rows: readonly Bar[]): VNode {
  const most = Math.max(1, ...rows.map(({ value }) => value));
  return ul(
    { class: 'bars', 'aria-label': label },
    rows.map(({ label: words, value, share = value / most, text = count(value), href }) => {
      const inside = [
        span({ class: 'fill', style: { width: `${share * 100}%` } }),
        span({ class: 'label' }, breakable(words)),
        span({ class: 'value' }, text),
      ];
      return li({ key: words }, href === undefined ? div(null, ...inside) : a({ href }, ...inside));
    }),
  );
}
