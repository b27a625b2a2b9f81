import type { CheckName } from './checks.ts';

/** A promise of the contract, and the part of this project that holds it. */
export interface Promised {
  /** The promise, in a sentence. */
  readonly promise: string;
  /** The document that makes it, and the heading there. */
  readonly source: string;
  /** The checks of the simulator that hold it; empty if it cannot see a breach. */
  readonly checks: readonly CheckName[];
  /** The included scenarios in which all of these checks look. */
  readonly scenarios: readonly string[];
  /** The test of the service that holds a promise without a check. */
  readonly test?: string;
}

/** Makes the rows of one document. */
export const promisesOf = (document: string) => ({
  /** A promise that the simulator holds. */
  seen: (
    promise: string,
    heading: string,
    checks: CheckName | readonly CheckName[],
    scenarios: string | readonly string[],
  ): Promised => ({
    promise,
    source: `${document}#${heading}`,
    checks: [checks].flat(),
    scenarios: [scenarios].flat(),
  }),
  /** A promise whose breach no device and no customer could see, or that none of them provokes. */
  tested: (promise: string, heading: string, test: string): Promised => ({
    promise,
    source: `${document}#${heading}`,
    checks: [],
    scenarios: [],
    test,
  }),
});
