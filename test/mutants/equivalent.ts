/** A change that no caller, device or operator can see. It is found by its texts, whose blanks are single. */
export interface Equivalent {
  readonly file: string;
  readonly before: string;
  readonly after: string;
  readonly reason: string;
}

/** Mutants that are never planted, each with the reason for which no test can see it. */
export const EQUIVALENT: readonly Equivalent[] = [];
