import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { TRIALS } from './trials.ts';

/** The page with the table of all trials, from the root of the project. */
export const PAGE = 'docs/contributing/trials.md';

const IN_CI = 'each change, by `.ci/run`';
const NEVER = 'nothing yet';
const ROW = /^\| `(\w+)` \| .* \| (`[0-9a-f]{8,40}`, \d{4}-\d\d-\d\d) \|$/gm;

/**
 * The rows of the table: each trial with the commit and the day on which it last passed, as the page has them, unless it
 * has just passed.
 */
export function rowsOf(page: string, passed: Readonly<Record<string, string>> = {}): string[][] {
  const former = Object.fromEntries([...page.matchAll(ROW)].map(([, name = '', last = '']) => [name, last]));
  return Object.entries(TRIALS).map(([name, { about, inCi }]) => [
    `\`${name}\``,
    about,
    inCi ? IN_CI : (passed[name] ?? former[name] ?? NEVER),
  ]);
}

const lineOf = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;

/** Records which trials pass on a commit. It is made before they begin, because they must be of this commit. */
export function createRecorder(root: string) {
  const git = (...args: string[]): string => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();
  const isClean = (): boolean => git('status', '--porcelain') === '';
  const commit = isClean() ? git('rev-parse', '--short=8', 'HEAD') : undefined;

  return {
    /** Writes trials that have passed into the page, and returns a sentence about it. */
    record(names: readonly string[], day: string): string {
      if (commit === undefined || !isClean() || git('rev-parse', '--short=8', 'HEAD') !== commit)
        return `${PAGE} stays as it is, because the checkout has changed, or has changes that are not committed.`;
      const page = readFileSync(join(root, PAGE), 'utf8');
      const passed = Object.fromEntries(names.map((name) => [name, `\`${commit}\`, ${day}`]));
      const rows = new Map(rowsOf(page, passed).map((cells) => [cells[0], lineOf(cells)]));
      const lines = page.split('\n').map((line) => rows.get(/^\| (`\w+`) \|/.exec(line)?.[1]) ?? line);
      writeFileSync(join(root, PAGE), lines.join('\n'));
      return `${PAGE} says that ${names.join(', ')} passed on ${commit}.`;
    },
  };
}
