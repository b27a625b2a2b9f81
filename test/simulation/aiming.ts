import type { Phase } from './phases.ts';
import type { Aim } from './plan.ts';

/** Milliseconds of the world between two looks without a commit: some phases begin because time passes. */
const LOOK_MS = 200;

interface Parts {
  aims: readonly Aim[];
  now(): number;
  isIn(phase: Phase): boolean;
  /** Plans something; it happens after the present event. */
  plan(milliseconds: number, task: () => void): void;
  happen(aim: Aim): void;
}

interface Waiting {
  readonly aim: Aim;
  readonly from: number;
}

/**
 * Lets the aimed events of a plan happen as soon as their phases are there. `look` is called at each commit, before the
 * disk has it, so that an event can come before its effects; `passed` at each event.
 */
export function createAiming({ aims, now, isIn, plan, happen }: Parts) {
  let waiting: readonly Waiting[] = aims.map((aim) => ({ aim, from: aim.from }));
  let nextLook = 0;

  /** An aim that has been met happens as often as it says, and then the next of its chain waits for its own phase. */
  function meet(aim: Aim): void {
    const { after = 0, times = 1, every = 0, next } = aim;
    for (let turn = 0; turn < times; turn += 1) plan(after + turn * every, () => happen(aim));
    if (next) waiting = [...waiting, { aim: next, from: now() + after + next.from }];
  }

  function look(): void {
    if (waiting.length === 0) return;
    nextLook = now() + LOOK_MS;
    const due = waiting.filter(({ aim, from }) => from <= now() && isIn(aim.when));
    if (due.length === 0) return;
    waiting = waiting.filter((one) => !due.includes(one));
    for (const { aim } of due) meet(aim);
  }

  return {
    look,
    passed(): void {
      if (waiting.length > 0 && now() >= nextLook) look();
    },
  };
}
