import t from 'tap';
import { deviceIdOf, startWorld } from '../world.ts';
import { run } from './run.ts';

const NONCE = 'a secret that the device keeps';

t.test('devices enrol from the command line', async (t) => {
  const world = await startWorld(t);
  await world.createTenant();
  const { addresses, adminToken } = world.service;
  const env = { LAPEL_ADMIN_TOKEN: adminToken, LAPEL_ADMIN_URL: addresses.admin };
  const enrolment = (line: string, input = '') => run(['admin', 'enrolment', ...line.split(' ')], { env, input });
  const create = 'create --developer dev --name field --most-devices 5 --expires-at 2026-12-20T09:30:00Z';
  const ask = (deviceId: string, code: string) =>
    world.anonymous().post('/v1/enrolments', { json: { deviceId, code, nonce: NONCE } });

  const made = await enrolment(`${create} --approval manual --registered --device-ids - --json`, '["35"]');
  t.equal(made.code, 0, made.stderr);
  const { batchId, code, ...batch } = JSON.parse(made.stdout);
  t.match(batch, { approval: 'manual', registered: true, deviceIds: ['35'], mostDevices: 5 });
  const [first, second] = [deviceIdOf(1), deviceIdOf(2)];
  for (const deviceId of [first, second]) t.equal((await ask(deviceId, code)).status, 202);
  t.match((await enrolment('list --developer dev')).stdout, /open +manual +0 +5 +2 .*field/);
  t.match((await enrolment(`devices ${batchId} --state pending`)).stdout, new RegExp(`${second} +pending +127.0.0.1`));
  t.match(await enrolment(`approve ${batchId} ${first}`), { code: 0, stdout: /approved/ });
  t.match(await enrolment(`refuse ${batchId} ${second}`), { code: 0, stdout: /refused/ });
  t.equal((await ask(first, code)).status, 201);
  t.equal((await ask(second, code)).status, 403);
  t.match(await enrolment(`approve ${batchId} ${second}`), { code: 1, stderr: /409 the enrolment is refused/ });
  t.match(await enrolment(`revoke ${batchId}`), { code: 0, stdout: /revoked/ });
  t.match((await enrolment(`show ${batchId}`)).stdout, /enrolled +1/i);

  const shown = await enrolment(create);
  t.match(shown.stdout + shown.stderr, /A code is shown only now, and never again\./);
  t.match(await enrolment(`${create} --approval perhaps`), { code: 2, stderr: /--approval/ });
});
