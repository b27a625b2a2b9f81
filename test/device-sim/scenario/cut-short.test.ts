import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { ADMIN_TOKEN, startProcess } from '../../flow/service-process.ts';
import { until } from '../../until.ts';
import { simulateHere } from '../simulate-here.ts';

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
  const ended = simulateHere(line.split(' '), { env: { LAPEL_ADMIN_TOKEN: ADMIN_TOKEN } });
  const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };
  const metrics = async (): Promise<string> => (await fetch(`${admin}/metrics`, { headers })).text();
  await until(async () => /^lapel_mqtt_messages_total\{topic="status"\} [1-9]/m.test(await metrics()));
  service.signal('SIGKILL');
  const { code, stdout, stderr } = await ended;
  t.equal(code, 3);
  t.match(stderr, /the service could not be reached at /);
  t.match(JSON.parse(stdout), { chapters: [{ name: 'run', fleet: { connections: 1, connected: 0 } }] });
});
