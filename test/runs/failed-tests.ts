// The record of the tests of a group that failed, by which their files can be run again.
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import type { Outcome } from './outcome.ts';

/** The environment variable that names the file of the record, a line for each test; without it there is no record. */
const RECORD = 'FAILED_TESTS';

/** A test that no other one contains, with its file as a path from `test/` on. */
interface Failed {
  file: string;
  title: string;
}

/** Begins the record of a process at `path`; returns the environment that the process needs. */
export function beginRecord(path: string): NodeJS.ProcessEnv {
  writeFileSync(path, '');
  return { [RECORD]: path };
}

export function noteFailed(failed: Failed): void {
  const record = process.env[RECORD];
  if (record !== undefined) appendFileSync(record, `${JSON.stringify(failed)}\n`);
}

/** The files of all failures of a process; undefined when one of them is no failure of a recorded test. */
export function failedFiles({ failures }: Outcome, path: string): string[] | undefined {
  const lines = readFileSync(path, 'utf8').split('\n').slice(0, -1);
  const failed = lines.map((line) => JSON.parse(line) as Failed);
  const isIn = (failure: string, { title }: Failed): boolean =>
    failure.startsWith(`${title} > `) || failure.startsWith(`${title}\n`);
  if (failures.some((failure) => !failed.some((one) => isIn(failure, one)))) return undefined;
  return [...new Set(failed.map(({ file }) => file))];
}
