import { Parser } from 'tap-parser';

export type Outcome = {
  readonly passed: number;
  /** Each failed assertion: the titles from the outermost test on, and its details. */
  readonly failures: readonly string[];
  /** Each test that was skipped, with its reason. */
  readonly skipped: readonly string[];
};

/** The failure of a process whose output ends before its tests: it is of no test, so nothing that passes later mends it. */
const CUT = 'the process ended before its tests';

/**
 * The outcome of a process, from its TAP. A test that failed only because of an assertion within it is left out of the
 * failures. Output that ends before its tests do is a failure.
 */
export function outcomeOf(tap: string): Outcome {
  const failures: string[] = [];
  const skipped: string[] = [];
  let passed = 0;
  let isWhole = false;
  let isCut = false;
  for (const [event, point] of Parser.parse(tap, { flat: true })) {
    if (event === 'complete') {
      isWhole = point.ok && point.count > 0;
      isCut = point.failures.some((one: { tapError?: unknown }) => typeof one.tapError === 'string');
    }
    if (event === 'bailout') failures.push(`Bail out! ${point}`);
    if (event !== 'assert') continue;
    if (point.skip) skipped.push(`${point.fullname}: ${point.skip}`);
    else if (point.ok) passed += 1;
    else if (!point.todo) failures.push([point.fullname, ...details(point.diag)].join('\n'));
  }
  if (isCut || (!isWhole && failures.length === 0)) failures.push(CUT);
  return { passed, failures, skipped };
}

/** The members of a failure's details, each with its indented text. */
const details = (diag: unknown): string[] =>
  typeof diag === 'object' && diag !== null
    ? Object.entries(diag).map(([name, value]) => {
        const text = typeof value === 'string' ? value.trimEnd() : JSON.stringify(value);
        return `  ${name}:${text.includes('\n') ? `\n${text}`.replaceAll('\n', '\n    ') : ` ${text}`}`;
      })
    : [];
