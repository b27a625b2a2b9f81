import { createHash } from 'node:crypto';
import { freePort } from '@lapel/tools/harness/free-port';
import t, { type Test } from 'tap';
import { createMetrics } from '../../src/metrics.ts';
import { createEmbeddedStore } from '../../src/platform/objects/embedded-store.ts';
import { createLog } from '../../src/runtime/log.ts';
import { createFakeClock } from '../fake-clock.ts';
import { S3_CREDENTIALS, useS3Credentials } from '../s3-credentials.ts';
import { startWorld, type Tenant, transactionIdOf } from '../world.ts';

const VERSION = { package: 'com.example.camera', version: '1.0.0' };

/** A service with a store of its own, configured like any S3-compatible one; its credentials come from the AWS chain. */
async function startWithStore(t: Test) {
  useS3Credentials();
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) } as unknown as NodeJS.WritableStream;
  const folder = t.testdir({ store: {}, data: {} });
  const clock = createFakeClock();
  const startStore = async (at: number) => {
    const store = createEmbeddedStore({
      folder: `${folder}/store`,
      credentials: S3_CREDENTIALS,
      bucket: 'lapel',
      region: 'us-east-1',
      clock,
      log: createLog({ level: 'silent' }),
      metrics: createMetrics(),
    });
    t.teardown(() => store[Symbol.asyncDispose]());
    return { store, port: (await store.listen('127.0.0.1', at)).port };
  };
  const { store, port } = await startStore(await freePort());
  const env = { LAPEL_S3_ENDPOINT: `http://127.0.0.1:${port}` };
  const log = createLog({ level: 'warn', destination });
  const world = await startWorld(t, { clock, dataDir: `${folder}/data`, env, log });
  const errors = (): string[] => lines.filter((line) => (JSON.parse(line) as { level: number }).level >= 50);
  return { world, clock, store, startAgain: () => startStore(port), lines, errors };
}

/** Uploads the version, and begins its distribution. */
async function distribute(t: Test, tenant: Tenant): Promise<void> {
  const upload = await tenant.api.post(`${tenant.path}/apps`, { json: { ...VERSION, fileSize: 4 } });
  t.equal((await fetch(upload.body.urlList[0].uploadUrl, { method: 'PUT', body: 'file' })).status, 200);
  await tenant.api.post(`${tenant.path}/packages/${VERSION.package}/versions/${VERSION.version}/distributions`);
}

t.test(
  'an install waits in its place for an unavailable object store; nothing fails, and a cancelled install is never sent',
  async (t) => {
    const { world, clock, store, startAgain, lines, errors } = await startWithStore(t);
    const tenant = await world.createTenant();
    const device = await world.activatedDevice(tenant);
    const install = () => tenant.api.put(`${device.path}/apps`, { json: VERSION });

    await distribute(t, tenant);
    await world.idle();
    const former = transactionIdOf(await install());
    t.match(await device.link.command(), { transactionId: former, attempt: 1 });
    const answered = transactionIdOf(await tenant.api.put(`${device.path}/settings/lang`, { json: { lang: 'fr' } }));
    t.match(await device.link.command(), { transactionId: answered, attempt: 1 });
    await device.link.drop();
    const stranded = transactionIdOf(await install());

    const cancelled = transactionIdOf(await install());

    await store[Symbol.asyncDispose]();
    t.match(await install(), { status: 503, body: { message: /object store/ } });
    const behind = transactionIdOf(await tenant.api.put(`${device.path}/settings/lang`, { json: { lang: 'ja' } }));
    const alsoCancelled = transactionIdOf(
      await tenant.api.put(`${device.path}/settings/lang`, { json: { lang: 'ko' } }),
    );
    const link = await world.connect(device);
    await world.idle();
    t.equal((await tenant.api.get(`${device.path}/transactions/${stranded}`)).body.status, 'queued');
    for (const seconds of [1, 2, 4, 8, 16, 30, 30]) {
      clock.advance(seconds * 1000);
      await world.idle();
    }
    t.equal((await tenant.api.get(`${device.path}/transactions/${stranded}`)).body.status, 'queued', 'it waits on');
    t.same(link.pending('publish'), [], 'and so does what comes after it');
    link.publish('requests', { requestId: 'r1', type: 'softwareDownloadUrl', data: { transactionId: stranded } });
    t.match(JSON.parse((await link.next('publish')).payload.toString()), { requestId: 'r1', error: { code: 'BUSY' } });
    await link.ack({ transactionId: answered, status: 'succeeded' });
    t.match(await tenant.event(), {
      type: 'transaction.succeeded',
      data: { transaction: { transactionId: answered } },
    });
    for (const transactionId of [cancelled, alsoCancelled]) {
      await tenant.api.delete(`${device.path}/transactions/${transactionId}`);
      t.equal((await tenant.event()).type, 'transaction.cancelled');
    }

    await startAgain();
    clock.advance(30_000);
    t.match(await link.command(), { transactionId: former, attempt: 2 });
    const command = await link.command(); // and not the one that was answered while it waited
    t.match(command, { transactionId: stranded, operation: 'installSoftware', attempt: 1 });
    t.equal(await (await fetch(String(command.parameters['url']))).text(), 'file');
    const digest = createHash('sha256').update('file').digest('hex');
    t.equal(command.parameters['sha256'], digest, 'of a store that says none, by reading it');
    t.equal((await link.command()).transactionId, behind, 'in order');
    // Their attempts were counted, so the device gets the cancel, although it never got the commands.
    t.match(await link.command(), { transactionId: cancelled, operation: 'cancel' });
    t.match(
      await link.command(),
      { transactionId: alsoCancelled, operation: 'cancel' },
      'needing nothing it waited too',
    );
    await world.idle();
    t.same(link.pending('publish'), []);
    t.ok(lines.some((line) => line.includes('a fresh download URL could not be made')));
    t.same(errors(), [], 'a store that is away is no error of the service');
  },
);

t.test('a rollout waits for an object store that is away, and the log tells no error of the service', async (t) => {
  const { world, clock, store, startAgain, lines, errors } = await startWithStore(t);
  const tenant = await world.createTenant();
  const { link } = await world.activatedDevice(tenant);
  await distribute(t, tenant);
  await world.idle();
  const startAt = new Date(clock.now() / 1000 + 30_000).toISOString();
  const json = { operation: 'installSoftware', parameters: VERSION, devices: {}, startAt };
  const { rolloutId } = (await tenant.api.post(`${tenant.path}/rollouts`, { json })).body;
  await world.idle();
  await store[Symbol.asyncDispose]();
  for (let seconds = 0; seconds < 60; seconds += 10) {
    await world.idle();
    clock.advance(10_000);
  }
  await world.idle();
  t.match((await tenant.api.get(`${tenant.path}/rollouts/${rolloutId}`)).body, { state: 'running' });
  t.ok(lines.some((line) => line.includes('a rollout could not be taken further')));
  t.same(errors(), []);
  await startAgain();
  for (let seconds = 0; seconds < 60 && link.pending('publish').length === 0; seconds += 10) {
    clock.advance(10_000);
    await world.idle();
  }
  t.match(await link.command(), { operation: 'installSoftware' });
});
