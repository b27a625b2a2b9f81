// Prepares a process for tests: it is imported before their files.
import './without-async-hooks.ts';
import { flushCompileCache } from 'node:module';
import t, { type Test } from 'tap';
import { folderInMemory } from './folder-in-memory.ts';
import { noteAnswers } from './received-codes.ts';

/** Milliseconds that one test may take; 0 means no bound. The process has no other bound. */
const LONGEST = Number(process.env['TAP_TIMEOUT'] ?? 30) * 1000;

/** Milliseconds after which the process has loaded its tests and the service. */
const LOADED = 5_000;

// In a fresh checkout the compiled code of this process is there for the processes that start after it, not only for those
// that start after its end.
setTimeout(flushCompileCache, LOADED).unref();

let timer: NodeJS.Timeout | undefined;

/**
 * Ends the tests that hang: those without a bound of their own that still run when for `LONGEST` no test has begun. The
 * runner would not: it counts its bound, which is that of the whole process, from the last time that it was set.
 */
function endSilent(): void {
  // They are collected first, because others begin when one ends.
  const silent = [...t.activeSubtests].filter(({ options }) => options.timeout === undefined);
  for (const test of silent) test.timeout({ expired: test.name });
}

/**
 * Counted from the start of the process, because the runner compares the whole time with the last bound. A test with a
 * bound of its own goes on as long as its subtests begin in time.
 */
const renew = (): void => {
  if (LONGEST === 0) return;
  t.setTimeout(performance.now() + 2 * LONGEST);
  clearTimeout(timer);
  timer = setTimeout(endSilent, LONGEST).unref();
};

let newest: Test | undefined;
let tests = 0;
t.on('subtestStart', (test) => {
  // The runner names a folder after its test, and tests of two files that run at the same time may have one name.
  (test as Test).testdirName = `${t.testdirName}-${tests}`;
  tests += 1;
  newest = test as Test;
  renew();
  newest.on('subtestStart', renew);
});
// Also a rejection that nobody handles arrives here. It fails the newest test, and the others are run.
process.on('uncaughtException', (error) => (newest ?? t).threw(error));
noteAnswers();
const folder = folderInMemory();
if (folder !== undefined) t.testdirName = folder;
