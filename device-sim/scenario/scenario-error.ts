/** One thing that is wrong with a scenario. */
export interface ScenarioFault {
  /** `phases[1].actions[0].rate`; empty: the whole file. */
  readonly path: string;
  /** From 1. */
  readonly line: number | null;
  readonly text: string;
}

/** A scenario cannot be understood: all that is wrong with it, each with where it is. Exit code 2. */
export class ScenarioError extends Error {
  readonly faults: readonly ScenarioFault[];

  constructor(name: string, faults: readonly ScenarioFault[]) {
    const lines = faults.map(({ path, line, text }) => {
      const place = line === null ? name : `${name}:${line}`;
      return path === '' ? `${place}: ${text}` : `${place}: ${path}: ${text}`;
    });
    super(lines.join('\n'));
    this.faults = faults;
  }
}
