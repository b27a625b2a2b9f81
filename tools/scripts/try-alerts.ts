// npm run try -- alerts: starts services and a Prometheus with the rules of deploy/prometheus, makes the fault of each alert
// for real, and sees that the alert fires, and ends when the fault is over. It needs Debian's packages prometheus
// (.ci/install-prometheus), postgresql and faketime, and root, and takes twenty minutes, so it is not part of
// `npm test`. With names of stands it makes their faults only: `npm run try -- alerts nodes clock`.
import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { createAttempts } from './trial/attempts.ts';
import { trialFolder } from './trial/folder.ts';
import { createFaults } from './try-alerts/faults.ts';
import { startPrometheus } from './try-alerts/prometheus.ts';
import type { Stand } from './try-alerts/stand.ts';
import { reachBounds } from './try-alerts/stands/bounds.ts';
import { moveClock } from './try-alerts/stands/clock.ts';
import { troubleDatabase } from './try-alerts/stands/database.ts';
import { troubleMachine } from './try-alerts/stands/machine.ts';
import { troubleNodes } from './try-alerts/stands/nodes.ts';
import { breakPromises } from './try-alerts/stands/promises.ts';

const STANDS: Readonly<Record<string, (stand: Stand) => Promise<void>>> = {
  promises: breakPromises,
  bounds: reachBounds,
  machine: troubleMachine,
  database: troubleDatabase,
  clock: moveClock,
  nodes: troubleNodes,
};
/** Milliseconds after which the run is given up. */
const LONGEST = 30 * 60_000;

async function tryAlerts(wanted: readonly string[]): Promise<boolean> {
  const attempts = createAttempts();
  const root = trialFolder('alerts', LONGEST);
  await using prometheus = await startPrometheus(root);
  const faults = createFaults(prometheus, attempts);
  for (const name of wanted) {
    const stand = STANDS[name];
    if (!stand) throw new Error(`there is no stand ${name}, only ${Object.keys(STANDS).join(', ')}`);
    const folder = join(root, name);
    mkdirSync(folder);
    let failure: unknown;
    await stand({ folder, prometheus, faults }).catch((error: unknown) => {
      failure = error;
    });
    if (failure !== undefined) await attempts.attempt(`the stand ${name} ends`, () => Promise.reject(failure as Error));
  }
  if (wanted.length === Object.keys(STANDS).length)
    await attempts.attempt('each alert has fired for a fault', async () => {
      const untried = faults.untried();
      if (untried.length > 0) throw new Error(`no fault was made for ${untried.join(', ')}`);
    });
  return attempts.conclude();
}

process.setMaxListeners(100); // each service that is started is killed with this process

if (spawnSync('prometheus', ['--version']).status === 0) {
  const named = process.argv.slice(2);
  if (!(await tryAlerts(named.length > 0 ? named : Object.keys(STANDS)))) process.exitCode = 1;
} else {
  process.stderr.write('try -- alerts: Prometheus is missing (.ci/install-prometheus)\n');
  process.exitCode = 2;
}
