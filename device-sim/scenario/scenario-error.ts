/** One fault in a scenario. */
export interface ScenarioFault {
  /** For instance `phases[1].actions[0].rate`; empty for the whole file. */
  readonly path: string;
  /** The line, from 1. */
  readonly line: number | null;
  readonly text: string;
}

/** All faults of a scenario, each with its line and path. The simulator then ends with exit code 2. */
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
