import { once } from 'node:events';
import { chmodSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import t from 'tap';
import { runMain, startProcess } from '../flow/service-process.ts';
import { NO_POSTGRES } from '../postgres/databases.ts';
import { startWorld, transactionIdOf, WIFI } from '../world.ts';

t.test('lapel doctor looks at settings, ports and files, and says what is wrong', async (t) => {
  const folder = t.testdir({ data: {} });
  const dataDir = join(folder, 'data');
  chmodSync(dataDir, 0o700);
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  t.teardown(() => other.close());
  const { port } = other.address() as { port: number };
  const env = { LAPEL_DATA_DIR: dataDir, LAPEL_LOG_LEVEL: 'silent' };

  const good = await runMain(t, ['doctor'], env);
  t.match(good, { code: 0, stdout: /^version +Lapel \d+\.\d+\.\d+\nsettings +good\nports +free\ndisk +\S+ GiB of/ });
  t.match(good.stdout, /^files +only their owner can read them\n/m);
  t.notMatch(good.stdout, /PROBLEM|advice/);

  const used = await runMain(t, ['doctor'], { ...env, LAPEL_MQTT_PORT: String(port) });
  t.match(used, { code: 1, stdout: `ports      PROBLEM: MQTT 127.0.0.1:${port}: another program uses it\n` });
  const foreign = await runMain(t, ['doctor'], {
    ...env,
    LAPEL_HTTP_HOST: '192.0.2.7',
    LAPEL_HTTP_PORT: String(port),
    LAPEL_ALLOW_PLAIN_HTTP: 'true',
  });
  t.match(foreign, { code: 1, stdout: /PROBLEM: API 192\.0\.2\.7:\d+: cannot listen \(EADDRNOTAVAIL\)/ });
  for (const advice of ['LAPEL_PUBLIC_URL is not set', 'LAPEL_WEBHOOK_ALLOW_PRIVATE', 'LAPEL_RATE_LIMIT is 0'])
    t.ok(foreign.stdout.includes(`settings   advice: ${advice}`), advice);
  const held = await runMain(t, ['doctor', '--webhooks-held', 'true'], env);
  t.match(held, { code: 0, stdout: /^settings +advice: LAPEL_WEBHOOKS_HELD: webhooks are stored, and none is sent$/m });

  const service = await startProcess(t, env);
  const running = { ...env, LAPEL_ADMIN_PORT: new URL(service.addresses.admin).port, LAPEL_MQTT_PORT: String(port) };
  const { stdout, code } = await runMain(t, ['doctor'], running);
  t.match(stdout, /^ports +a service answers at 127\.0\.0\.1:\d+$/m, 'its own ports are no problem');
  t.equal(code, 0);
  chmodSync(join(dataDir, 'lapel.db'), 0o644);
  t.match((await runMain(t, ['doctor'], env)).stdout, /^files +advice: \S+lapel\.db has the mode 0644: other users/m);
});

for (const database of ['sqlite', 'postgres'] as const)
  t.test(
    `lapel doctor names receivers that fail, and a clock that is wrong: ${database}`,
    {
      skip: database === 'postgres' && NO_POSTGRES,
    },
    async (t) => {
      const world = await startWorld(t, { database });
      const tenant = await world.createTenant();
      const device = await world.activatedDevice(tenant);
      const { dataDir, databaseUrl } = world;
      const env = { LAPEL_DATA_DIR: dataDir, ...(databaseUrl !== null && { LAPEL_DATABASE_URL: databaseUrl }) };
      t.match((await runMain(t, ['doctor'], env)).stdout, /^receivers +no webhook waits for another attempt$/m);
      tenant.receiver.answer({ status: 503 });
      const submitted = await tenant.api.put(`${device.path}/settings/wifi`, { json: WIFI });
      await device.link.command();
      await device.link.ack({ transactionId: transactionIdOf(submitted), status: 'succeeded' });
      await tenant.event();
      await world.idle();
      const failing = await runMain(t, ['doctor'], env);
      const text = 'dev-app deviceEvent: 1 webhook waits for another attempt: answered 503';
      t.match(failing, { code: 0, stdout: `receivers  advice: ${text}\n` });
      await (await world.raw()).all('UPDATE transactions SET created_at = created_at + 1000000000000000');
      const late = await runMain(t, ['doctor'], env);
      t.match(late.stdout, /^clock +advice: \d+\.\d s behind the time of the latest transaction \(NTP\)$/m);
    },
  );
