import { Parser } from 'tap-parser';

/**
 * The failures in the TAP of one file, as text: the titles from the outermost test to the assertion, and its details.
 * A test that failed only because of a test or an assertion within it is left out.
 */
export function failuresIn(tap: string): string[] {
  const events = Parser.parse(tap, { flat: true });
  const failures = events.flatMap(([event, point]) => {
    if (event === 'bailout') return [`Bail out! ${point}`];
    if (event !== 'assert' || point.ok || point.todo || point.skip) return [];
    return [[point.fullname, ...details(point.diag)].join('\n')];
  });
  const isCut = events.some(([event, results]) => event === 'complete' && !results.ok) && failures.length === 0;
  return isCut ? ['the process ended before its tests'] : failures;
}

/** The members of a failure's details, each with its indented text. */
const details = (diag: unknown): string[] =>
  typeof diag === 'object' && diag !== null
    ? Object.entries(diag).map(([name, value]) => {
        const text = typeof value === 'string' ? value.trimEnd() : JSON.stringify(value);
        return `  ${name}: ${text.includes('\n') ? `\n${text}`.replaceAll('\n', '\n    ') : text}`;
      })
    : [];
