import type { Phase } from './phases.ts';
import type { Aim } from './plan.ts';

interface Parts {
  aims: readonly Aim[];
  now(): number;
  isIn(phase: Phase): boolean;
  happen(aim: Aim): void;
}

/** Lets the aimed events of a plan happen as soon as their phases are there. `look` is called after each commit. */
export function createAiming({ aims, now, isIn, happen }: Parts) {
  let waiting = aims;
  return {
    look(): void {
      if (waiting.length === 0) return;
      const due = waiting.filter(({ from, when }) => from <= now() && isIn(when));
      if (due.length === 0) return;
      waiting = waiting.filter((aim) => !due.includes(aim));
      for (const aim of due) happen(aim);
    },
  };
}
