import { once } from 'node:events';
import { basename } from 'node:path';
import t from 'tap';
import { folderInMemory } from './folder-in-memory.ts';
import { filesOf } from './groups.ts';

/** Milliseconds that one test may take; 0: as long as it likes. The process has no bound besides. */
const LONGEST = Number(process.env['TAP_TIMEOUT'] ?? 30) * 1000;

/** Runs the tests of a group in this process, one file after another: its name is that of the file that is given. */
export async function runGroup(path: string): Promise<void> {
  // Counted from the start of the process: the runner holds all of its time against the last bound that it was told.
  if (LONGEST > 0) t.on('subtestStart', () => t.setTimeout(performance.now() + LONGEST));
  const folder = folderInMemory();
  if (folder !== undefined) t.testdirName = folder;
  for (const file of filesOf(basename(path, '.ts'))) {
    const env = { ...process.env };
    await import(`../${file}`);
    while (!t.idle) await once(t, 'idle');
    // What one file says of its own process does not hold for the next.
    t.jobs = 1;
    for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name];
    Object.assign(process.env, env);
  }
}
