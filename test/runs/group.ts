// Runs the tests of groups in this process, one group after another. The arguments name the groups.
import { once } from 'node:events';
import './prepared.ts';
import t from 'tap';
import { filesOf } from './groups.ts';

/** Tests of one process that run at a time. */
const AT_ONCE = 3;

const untilIdle = async (): Promise<void> => {
  while (!t.idle) await once(t, 'idle');
};

for (const { oneByOne, atOnce } of process.argv.slice(2).map(filesOf)) {
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
  t.jobs = 1;
}
