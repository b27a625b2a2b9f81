import { type Child, li, ol, span, type VNode } from '../base/elements.ts';

/** A step of somebody who begins: it is done, or it says what to do. */
export interface Step {
  name: string;
  isDone: boolean;
  /** What to do, with the page for it. */
  about: string;
  link?: Child;
}

/** The steps in their order; the first one that is not done is the next one. */
export function firstSteps(steps: readonly Step[]): VNode {
  const next = steps.findIndex(({ isDone }) => !isDone);
  return ol(
    { class: 'stages', 'aria-label': 'First steps' },
    steps.map(({ name, isDone, about, link }, index) => {
      const isNext = index === next;
      return li(
        {
          key: name,
          class: `is-${isDone ? 'done' : isNext ? 'now' : 'open'}`,
          ...(isNext && { 'aria-current': 'step' as const }),
        },
        span({ class: 'dot', 'aria-hidden': 'true' }),
        span({ class: 'name' }, name, span({ class: 'unseen' }, isDone ? ': done' : isNext ? ': next' : ': not yet')),
        isDone ? null : span({ class: 'gap' }, about, ' ', link ?? null),
      );
    }),
  );
}
