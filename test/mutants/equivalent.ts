/** A change that no caller, device or operator can see. It is found by its texts, and by that of its line. */
export interface Equivalent {
  readonly file: string;
  /** The line on which the change begins, without the blanks around it. */
  readonly source: string;
  readonly before: string;
  readonly after: string;
  readonly reason: string;
}

/** Mutants that are never planted, each with the reason for which no test can see it. */
export const EQUIVALENT: readonly Equivalent[] = [
  {
    file: 'src/core/rollouts/steps.ts',
    source: 'const isLetPass = (plan.letPass ?? -1) >= stage && failed;',
    before: '1',
    after: '(1 + 1)',
    reason: 'it stands in -1, a stage that is let pass if there is none; -2 is also below each stage',
  },
];
