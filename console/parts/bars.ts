import { a, div, li, span, ul, type VNode } from '../base/elements.ts';
import { count, visible } from '../base/format.ts';

interface Bar {
  label: string;
  value: number;
  /** The address of the list of the objects that the bar counts. */
  href?: string;
}

/** A bar chart of counts. The largest count has a bar of full length. */
export function bars(label: string, rows: readonly Bar[]): VNode {
  const most = Math.max(1, ...rows.map(({ value }) => value));
  return ul(
    { class: 'bars', 'aria-label': label },
    rows.map(({ label: words, value, href }) => {
      const inside = [
        span({ class: 'fill', style: { width: `${(value / most) * 100}%` } }),
        span({ class: 'label', title: words }, visible(words)),
        span({ class: 'value' }, count(value)),
      ];
      return li({ key: words }, href === undefined ? div(null, ...inside) : a({ href }, ...inside));
    }),
  );
}
