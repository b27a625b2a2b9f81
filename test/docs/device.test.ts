import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { skip as withoutOpenssl } from '../broker/authority.ts';
import { startSecured } from '../broker/secured-world.ts';
import { until } from '../until.ts';
import { deviceIdOf, startWorld, transactionIdOf, type World } from '../world.ts';
import { DOCUMENTED, WITH_LIBRARY } from './documented-devices.ts';

const APK = { package: 'com.example.camera', version: '1.0.0' };

/** A device that nobody has registered, with the code of its batch. */
async function inBatch(world: World) {
  const json = { name: 'a batch', expiresAt: '2027-01-01T00:00:00Z', mostDevices: 1 };
  const { body } = await world.admin().post('/admin/v1/developers/dev/enrolment-batches', { json });
  const env = { LAPEL_ENROLMENT_CODE: String(body.code), LAPEL_URL: world.service.addresses.http };
  return { deviceId: deviceIdOf(1), env };
}

/** Tests the life of a device from its first connection on, in any language. */
async function liveOf(t: Test, { make }: (typeof DOCUMENTED)[number]): Promise<void> {
  const folder = t.testdir({ data: {}, device: {} });
  const [command = '', ...program] = await make(join(folder, 'device'));
  const world = await startWorld(t, { dataDir: join(folder, 'data') });
  const tenant = await world.createTenant();
  const { deviceId, env } = await inBatch(world);
  const path = `${tenant.path}/devices/${deviceId}`;
  const { hostname, port } = new URL(world.service.addresses.mqtt);
  let output = '';
  let errors = '';
  let running: ChildProcess | undefined;
  function start(): ChildProcess {
    const device = spawn(command, [...program, hostname, port, deviceId, join(folder, 'device', 'state.json')], {
      env: { PATH: process.env['PATH'], ...env },
    });
    device.stdout.on('data', (chunk) => (output += String(chunk)));
    device.stderr.on('data', (chunk) => (errors += String(chunk)));
    running = device;
    return device;
  }
  async function kill(): Promise<void> {
    if (!running || running.exitCode !== null || running.signalCode !== null) return;
    running.kill('SIGKILL');
    await once(running, 'exit');
  }
  t.teardown(kill);
  const result = async () => (await tenant.event()).data.transaction;
  const begun = (transactionId: number): number => output.split(`begins ${transactionId} `).length - 1;
  const put = (where: string, json: unknown) => tenant.api.put(`${path}${where}`, { json }).then(transactionIdOf);

  start();
  await until(() => world.service.isConnected(deviceId));
  await tenant.api.post(path, { json: {} });
  t.match(await result(), { operation: 'activate', status: 'succeeded' });
  t.match((await tenant.api.get(`${path}/status`)).body, { lang: 'en', firmwareVersion: '9.001.0', bluetooth: {} });

  const language1 = await put('/settings/lang', { lang: 'ja' });
  t.match(await result(), { transactionId: language1, status: 'succeeded' });
  const language2 = await put('/settings/lang', { lang: 'es' });
  t.match(await result(), { transactionId: language2, status: 'succeeded' });
  // The device reports its new language by itself, without a new connection.
  await until(async () => (await tenant.api.get(`${path}/status`)).body.lang === 'es');
  await put('/connectivity/state', { type: 'bluetooth', enabled: true });
  t.match(await result(), { status: 'succeeded', result: { type: 'bluetooth', enabled: true } });
  await tenant.api.post(`${path}/bluetooth/devices`, { json: { macAddress: 'AA:BB:CC:DD:EE:FF' } });
  t.match(await result(), { status: 'failed', error: { code: 'UNSUPPORTED' } });

  running?.stdin?.write('help\n');
  t.match(await tenant.event(), { type: 'custom.sos', data: { button: 'side', deviceId } });

  const upload = await tenant.api.post(`${tenant.path}/apps`, { json: { ...APK, fileSize: 4 } });
  await fetch(upload.body.urlList[0].uploadUrl, { method: 'PUT', body: 'file' });
  await tenant.api.post(`${tenant.path}/packages/${APK.package}/versions/${APK.version}/distributions`);
  await put('/apps', APK);
  t.match(await result(), { operation: 'installSoftware', status: 'succeeded', result: APK });

  // The device is offline and comes back: waiting commands are done, cancelled ones are not, and repeated ones are
  // answered again.
  await kill();
  const away = await put('/settings/lang', { lang: 'de' });
  const never = await put('/settings/lang', { lang: 'fr' });
  t.equal((await tenant.api.delete(`${path}/transactions/${never}`)).status, 204);
  t.match(await result(), { transactionId: never, status: 'cancelled' });
  // In the database the answer of the device is undone, so the service sends the command again.
  const unanswered = `UPDATE transactions SET status = 'delivered', due = 1, completed_at = NULL WHERE transaction_id = ?`;
  const raw = await world.raw();
  await raw.all(unanswered, language1);
  // Here the creation time differs too, so the device must take it for a command of another service.
  const elsewhere = `UPDATE transactions SET created_at = created_at + 1000000, parameters = '{"lang":"nl"}' WHERE transaction_id = ?`;
  await raw.all(unanswered, language2);
  await raw.all(elsewhere, language2);
  start();
  const three = [await result(), await result(), await result()];
  t.same(
    new Map(three.map((one) => [one['transactionId'], one['status']])),
    new Map([language1, language2, away].map((transactionId) => [transactionId, 'succeeded'])),
  );
  t.same([begun(language1), begun(away), begun(never)], [1, 1, 0], 'each once');
  t.equal(begun(language2), 2, 'a number that was issued at another time is another command');

  // A command that is on its way when it is cancelled; the commands behind it are done.
  running?.kill('SIGSTOP');
  const stopped = await put('/settings/lang', { lang: 'it' });
  t.equal((await tenant.api.delete(`${path}/transactions/${stopped}`)).status, 204);
  t.match(await result(), { transactionId: stopped, status: 'cancelled' });
  running?.kill('SIGCONT');
  const last = await put('/settings/lang', { lang: 'en' });
  t.match(await result(), { transactionId: last, status: 'succeeded' });
  t.ok(begun(stopped) <= 1);
  t.equal(errors, '', 'nothing was wrong with its messages');
}

const ALL = [...DOCUMENTED, WITH_LIBRARY];

for (const documented of ALL) {
  const { language, skip } = documented;
  t.test(`the device of docs/devices.md in ${language} does what a device must do`, { skip }, (t) =>
    liveOf(t, documented),
  );
}

t.test(
  'the devices of docs/devices.md log in over TLS with a certificate, and name a refused login',
  { skip: withoutOpenssl },
  async (t) => {
    const { world, authority, mqtts } = await startSecured(t);
    await world.createTenant();
    const { hostname, port } = new URL(mqtts);
    for (const { language, make, skip } of ALL) {
      await t.test(language, { skip }, async (t) => {
        const folder = t.testdir();
        const [command = '', ...program] = await make(folder);
        const { deviceId } = await world.registerDevice();
        const { certFile, keyFile } = authority.sign(deviceId);
        const start = (env: Record<string, string>, ...files: string[]) => {
          const state = join(folder, `${files.length}.json`);
          const child = spawn(command, [...program, hostname, port, deviceId, state, authority.ca, ...files], { env });
          t.teardown(() => child.kill('SIGKILL'));
          return child;
        };
        const known = start({}, certFile, keyFile);
        await until(() => world.service.isConnected(deviceId));
        known.kill('SIGKILL');
        await once(known, 'exit');
        const stranger = start({ LAPEL_CREDENTIAL: 'not-the-credential' });
        let errors = '';
        stranger.stderr.on('data', (chunk) => (errors += String(chunk)));
        await until(() => /refused/i.test(errors));
        t.match(errors, /refused/i, language);
        stranger.kill('SIGKILL');
        await once(stranger, 'exit');
      });
    }
  },
);
