// Runs the tests of a group in this process. The argument names the group.
import { once } from 'node:events';
import './without-async-hooks.ts';
import t, { type Test } from 'tap';
import { folderInMemory } from './folder-in-memory.ts';
import { filesOf } from './groups.ts';

/** Milliseconds that one test may take; 0 means no bound. The process has no other bound. */
const LONGEST = Number(process.env['TAP_TIMEOUT'] ?? 30) * 1000;

/** Tests of one process that run at a time. */
const AT_ONCE = 3;

const untilIdle = async (): Promise<void> => {
  while (!t.idle) await once(t, 'idle');
};

// Counted from the start of the process, because the runner compares the whole time with the last bound.
if (LONGEST > 0) t.on('subtestStart', () => t.setTimeout(performance.now() + LONGEST));
let newest: Test | undefined;
t.on('subtestStart', (test) => {
  newest = test as Test;
});
// Also a rejection that nobody handles arrives here. It fails the newest test, and the others are run.
process.on('uncaughtException', (error) => (newest ?? t).threw(error));
const folder = folderInMemory();
if (folder !== undefined) t.testdirName = folder;
const { oneByOne, atOnce } = filesOf(process.argv[2]!);
for (const file of oneByOne) {
  const env = { ...process.env };
  await import(`../${file}`);
  await untilIdle();
  // Settings of one file for its process do not apply to the next.
  t.jobs = 1;
  for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name];
  Object.assign(process.env, env);
}
for (const file of atOnce) {
  t.jobs = AT_ONCE;
  await import(`../${file}`);
}
t.jobs = AT_ONCE;
await untilIdle();
