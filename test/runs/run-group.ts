import { once } from 'node:events';
import { basename } from 'node:path';
import './without-async-hooks.ts';
import t, { type Test } from 'tap';
import { folderInMemory } from './folder-in-memory.ts';
import { filesOf } from './groups.ts';

/** Milliseconds that one test may take; 0 means no bound. The process has no other bound. */
const LONGEST = Number(process.env['TAP_TIMEOUT'] ?? 30) * 1000;

/**
 * Runs the tests of a group in this process, one file after another. The name of the given file is that of the group.
 */
export async function runGroup(path: string): Promise<void> {
  // Counted from the start of the process, because the runner compares the whole time with the last bound.
  if (LONGEST > 0) t.on('subtestStart', () => t.setTimeout(performance.now() + LONGEST));
  let running: Test | undefined;
  t.on('subtestStart', (test) => {
    running = test as Test;
  });
  // Also a rejection that nobody handles arrives here. It fails the running test, and the others are run.
  process.on('uncaughtException', (error) => (running ?? t).threw(error));
  const folder = folderInMemory();
  if (folder !== undefined) t.testdirName = folder;
  for (const file of filesOf(basename(path, '.ts'))) {
    const env = { ...process.env };
    await import(`../${file}`);
    while (!t.idle) await once(t, 'idle');
    // Settings of one file for its process do not apply to the next.
    t.jobs = 1;
    for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name];
    Object.assign(process.env, env);
  }
}
