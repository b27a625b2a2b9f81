import { once } from 'node:events';
import t, { type Test } from 'tap';
import { noteFailed } from './failed-tests.ts';

/** Tests of one process that run at a time. */
const AT_ONCE = 3;

const untilIdle = async (): Promise<void> => {
  while (!t.idle) await once(t, 'idle');
};

/** The file that is being loaded, and the file of each of its tests. */
let loading = '';
const fileOf = new WeakMap<object, string>();
t.on('subtestAdd', (test) => void fileOf.set(test, loading));
t.on('subtestEnd', (test) => {
  const { name, passing } = test as Test;
  if (!passing.call(test)) noteFailed({ file: fileOf.get(test) ?? '', title: name });
});

async function load(file: string): Promise<void> {
  loading = file;
  await import(`../${file}`);
}

/** Runs test files, given as paths from `test/` on, in this process, and waits for their end. */
export async function runFiles({ oneByOne, atOnce }: { oneByOne: string[]; atOnce: string[] }): Promise<void> {
  for (const file of oneByOne) {
    const env = { ...process.env };
    t.jobs = 1;
    await load(file);
    await untilIdle();
    // Settings of one file for its process do not apply to the next.
    for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name];
    Object.assign(process.env, env);
  }
  for (const file of atOnce) {
    t.jobs = AT_ONCE;
    await load(file);
  }
  t.jobs = AT_ONCE;
  await untilIdle();
  t.jobs = 1;
}
