import { useEffect, useRef } from 'preact/hooks';
import { a, type Child, div, h1, header, nav, p, span, use, type VNode } from '../base/elements.ts';
import { visible } from '../base/format.ts';

interface Head {
  title: string;
  /** One sentence: what this page is good for. */
  about?: Child;
  /** The pages above it. */
  trail?: readonly (readonly [href: string, words: string])[];
  /** Beside the title: its state. */
  state?: Child;
  actions?: Child;
}

/** Whose page is shown: after going to another one, its title has the focus, so that it is read out. */
let titled: string | undefined;

function Heading({ title, about, trail = [], state, actions }: Head) {
  const element = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${visible(title)} · Lapel`;
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
        h1({ ref: element, tabIndex: -1 }, visible(title)),
        state ? span({ class: 'row' }, state) : null,
      ),
      about ? p({ class: 'about' }, about) : null,
    ),
    actions ? div({ class: 'row' }, actions) : null,
  );
}

export const head = (what: Head): VNode => use(Heading, what);
