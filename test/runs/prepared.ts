// Prepares a process for tests: it is imported before their files.
import './without-async-hooks.ts';
import t, { type Test } from 'tap';
import { folderInMemory } from './folder-in-memory.ts';

let newest: Test | undefined;
t.on('subtestStart', (test) => {
  newest = test as Test;
});
// Also a rejection that nobody handles arrives here. It fails the newest test, and the others are run.
process.on('uncaughtException', (error) => (newest ?? t).threw(error));
const folder = folderInMemory();
if (folder !== undefined) t.testdirName = folder;
