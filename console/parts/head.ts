import { useEffect, useRef } from 'preact/hooks';
import { a, type Child, div, h1, header, nav, span, use, type VNode } from '../base/elements.ts';
import { visible } from '../base/format.ts';
import { pageName } from '../base/title.ts';
import { copyIcon } from './copy.ts';
import { breakable } from './show.ts';

interface Head {
  title: string;
  /** The identifier of the shown object, which a button beside the title copies. */
  copied?: string | undefined;
  /** One sentence about the purpose of the page. */
  about?: Child;
  /** Links to the parent pages. */
  trail?: readonly (readonly [href: string, words: string])[];
  /** The state of the shown object, beside the title. */
  state?: Child;
  actions?: Child;
}

/**
 * The address for which the title was shown last. After a change of the page the title gets the focus, so that screen
 * readers read it out.
 */
let titled: string | undefined;

function Heading({ title, copied, about, trail = [], state, actions }: Head) {
  const element = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    pageName.value = visible(title);
    if (titled !== undefined && titled !== location.pathname) element.current?.focus({ preventScroll: true });
    titled = location.pathname;
  }, [title]);
  return header(
    { class: 'head' },
    div(
      null,
      trail.length === 0
        ? null
        : nav(
            { class: 'trail', 'aria-label': 'Above this page' },
            trail.map(([href, words]) => [a({ href }, visible(words)), ' / ']),
          ),
      div(
        { class: 'row' },
        h1({ ref: element, tabIndex: -1 }, breakable(title)),
        copied === undefined ? null : copyIcon(copied),
        state ? span({ class: 'row' }, state) : null,
      ),
      about ? div({ class: 'about' }, about) : null,
    ),
    actions ? div({ class: 'row' }, actions) : null,
  );
}

export const head = (what: Head): VNode => use(Heading, what);
