import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readCommandLine } from '@lapel/device-sim/command-line';
import { run } from '@lapel/device-sim/run';
import { devicesOf } from '@lapel/device-sim/scenario/groups';
import { HALTED } from '@lapel/device-sim/scenario/verdicts';
import { freePort } from '@lapel/tools/harness/free-port';
import t from 'tap';
import { ADMIN_TOKEN, startProcess } from '../../flow/service-process.ts';

const SCENARIO = `name: versions
devices: 6
groups: [{ name: older }, { name: newer, count: 3, mqtt: 5, faults: [{ fault: half-open, probability: 0.2, delay: 100ms-200ms }] }]
phases:
  - { name: work, duration: 1s, actions: [{ do: setWifi, each: 3 }, { do: setLanguage, each: 2 }] }
settle: 30s
`;

t.test('a group speaks the version that it names', async (t) => {
  t.equal(devicesOf({ name: 'newer', mqtt: 5 }).level, 5);
  t.equal(devicesOf({ name: 'older', mqtt: '3.1.1' }).level, undefined);
});

t.test('the groups of a scenario may speak different versions of MQTT', { timeout: 120_000 }, async (t) => {
  const folder = t.testdir({ data: {} });
  const { addresses } = await startProcess(t, {
    LAPEL_DATA_DIR: join(folder, 'data'),
    LAPEL_ALLOW_HTTP_WEBHOOKS: 'true',
  });
  const { admin, http, mqtt } = addresses;
  const file = join(folder, 'versions.yaml');
  writeFileSync(file, SCENARIO);
  const port = await freePort();
  const line = `run ${file} --admin ${admin} --api ${http} --mqtt ${mqtt} --webhook-listen 127.0.0.1:${port} --clean`;
  const command = readCommandLine(line.split(' '), { LAPEL_ADMIN_TOKEN: ADMIN_TOKEN });
  if (command.do !== 'run') throw new Error('no run');
  const stopped = new AbortController().signal;
  const { record } = await run(command.settings, { stopped, stream: { write: () => {} } });
  t.same(
    record.verdicts
      .filter(({ holds, text }) => !holds && text !== HALTED)
      .map(({ text, shown }) => `${text}: ${shown}`),
    [],
  );
});
