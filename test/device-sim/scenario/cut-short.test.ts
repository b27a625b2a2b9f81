import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import t from 'tap';
import { ADMIN_TOKEN, startProcess } from '../../flow/service-process.ts';
import { until } from '../../until.ts';

const MAIN = join(import.meta.dirname, '../../../device-sim/main.ts');
const SCENARIO = `name: cut-short
devices: 2
activate: false
connectRate: 1/s
settle: 0s
phases: [{ name: work, duration: 10ms }]
`;

t.test('a service that disappears while devices connect is exit code 3, with a report', async (t) => {
  const folder = t.testdir({ data: {}, 'cut-short.yaml': '' });
  // The service takes the first device only, so the second one is never connected.
  const settings = { LAPEL_DATA_DIR: join(folder, 'data'), LAPEL_MQTT_MAX_CONNECTIONS: '1' };
  const service = await startProcess(t, settings);
  const { admin, http, mqtt } = service.addresses;
  const file = join(folder, 'cut-short.yaml');
  writeFileSync(file, SCENARIO);
  const line = `run ${file} --wait 0 --json --admin ${admin} --api ${http} --mqtt ${mqtt}`;
  const env = { ...process.env, LAPEL_ADMIN_TOKEN: ADMIN_TOKEN };
  const child = spawn(process.execPath, [MAIN, ...line.split(' ')], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const [output, errors, exit] = [text(child.stdout), text(child.stderr), once(child, 'exit')];
  const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };
  const metrics = async (): Promise<string> => (await fetch(`${admin}/metrics`, { headers })).text();
  await until(async () => /^lapel_mqtt_messages_total\{topic="status"\} [1-9]/m.test(await metrics()));
  service.signal('SIGKILL');
  t.equal((await exit)[0], 3);
  t.match(await errors, /the service could not be reached at /);
  t.match(JSON.parse(await output), { chapters: [{ name: 'run', fleet: { connections: 1, connected: 0 } }] });
});
