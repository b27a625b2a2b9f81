import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * Makes the folder of a trial, which is removed with the process. A trial that is interrupted, or that has not ended in
 * time, ends then.
 */
export function trialFolder(name: string, longestMs: number): string {
  const folder = mkdtempSync(join(tmpdir(), `lapel-${name}-`));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));
  setTimeout(() => {
    process.stderr.write(`has not ended in ${longestMs / 60_000} minutes\n`);
    process.exit(1);
  }, longestMs).unref();
  return folder;
}
