import type { RuleName } from './rules.ts';

/** A device has broken a rule. Ends the case that found it. */
export class Breach extends Error {
  readonly rule: RuleName;
  readonly expected: string;
  /** The message or state that came in place of the expected one. */
  readonly came: string;
  /** Whether the finding depends on time, so that a slow simulator could be the reason. */
  readonly isTimed: boolean;
  /** The time of the timers at which its cause began; undefined: at the begin of the case. */
  since: number | undefined;

  constructor(rule: RuleName, expected: string, came: string, { isTimed = false } = {}) {
    super(`${expected}; came: ${came}`);
    this.rule = rule;
    this.expected = expected;
    this.came = came;
    this.isTimed = isTimed;
  }
}

/** A case does not concern this device: it does not support the operation, or an option leaves the case out. */
export class LeftOut extends Error {}

/** A case could not be played, so the test is NOT RUN. */
export class NotPlayed extends Error {}
