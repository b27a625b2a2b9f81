import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { startWorld, type Tenant, transactionIdOf } from '../world.ts';

const CAMERA = 'com.example.camera';
const apk = (name: string): Buffer => readFileSync(join(import.meta.dirname, '../../tools/demo/apks', name));

/** Registers a version, uploads its binary by op 23 and starts its distribution. */
async function distribute(tenant: Tenant, version: string, binary: Buffer): Promise<void> {
  const upload = await tenant.api.post(`${tenant.path}/apps`, {
    json: { package: CAMERA, version, fileSize: binary.length },
  });
  const put = await fetch(upload.body.urlList[0].uploadUrl, { method: 'PUT', body: new Uint8Array(binary) });
  if (!put.ok) throw new Error(`${put.status} ${await put.text()}`);
  const started = await tenant.api.post(`${tenant.path}/packages/${CAMERA}/versions/${version}/distributions`);
  if (started.status !== 201) throw new Error(String(started.status));
}

t.test('op 28: the command carries a URL that is made at delivery and serves the binary', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const device = await world.activatedDevice(tenant);
  const binary = apk('camera-1.0.0.apk');
  await distribute(tenant, '1.0.0', binary);
  await device.link.drop();
  const answer = await tenant.api.put(`${device.path}/apps`, { json: { package: CAMERA, version: '1.0.0' } });
  t.equal(answer.status, 201);
  const transactionId = transactionIdOf(answer);
  world.clock.leap(7 * 24 * 3600 * 1000); // longer than the life of any URL
  const link = await world.connect(device);
  const command = await link.command();
  t.match(command, {
    transactionId,
    operation: 'installSoftware',
    attempt: 1,
    parameters: {
      package: CAMERA,
      version: '1.0.0',
      size: binary.length,
      sha256: createHash('sha256').update(binary).digest('hex'),
      expiresAt: '2026-11-27T10:30:00.000000Z',
    },
  });
  const download = await fetch(String(command.parameters['url']));
  t.equal(download.status, 200);
  t.ok(Buffer.from(await download.arrayBuffer()).equals(binary));
  await link.ack({ transactionId, status: 'processing', progress: 40 });
  await tenant.renew();
  t.match((await tenant.api.get(`${device.path}/transactions/${transactionId}`)).body, {
    status: 'processing',
    progress: 40,
  });
  await link.ack({ transactionId, status: 'succeeded', progress: 100 });
  t.match((await tenant.event()).data.transaction, {
    transactionId,
    status: 'succeeded',
    operation: 'installSoftware',
  });
});

t.test('op 28: 400 without a started distribution or without a binary; 404 for an unknown version', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const device = await world.activatedDevice(tenant);
  const install = (version: string, name = CAMERA) =>
    tenant.api.put(`${device.path}/apps`, { json: { package: name, version } });
  t.match(await install('1.0.0'), { status: 404, body: { reason: 'package not found.' } });
  await distribute(tenant, '1.0.0', apk('camera-1.0.0.apk'));
  t.match(await install('2.0.0'), { status: 404, body: { reason: 'version not found.' } });
  const version = `${tenant.path}/packages/${CAMERA}/versions/1.0.0`;
  await tenant.api.delete(`${version}/distributions`);
  t.match(await install('1.0.0'), { status: 400, body: { reason: 'distribution is not started.' } });
  await tenant.api.post(`${version}/distributions`);
  await tenant.api.delete(`${version}/binaries`);
  t.match(await install('1.0.0'), { status: 400, body: { reason: 'binary is deleted.' } });
});

t.test(
  'an installation whose version is deleted or stopped before its delivery fails without the device',
  async (t) => {
    const world = await startWorld(t);
    const tenant = await world.createTenant();
    const device = await world.activatedDevice(tenant);
    await distribute(tenant, '1.0.0', apk('camera-1.0.0.apk'));
    await distribute(tenant, '1.1.0', apk('camera-1.1.0.apk'));
    await device.link.drop();
    const put = async (version: string) =>
      transactionIdOf(await tenant.api.put(`${device.path}/apps`, { json: { package: CAMERA, version } }));
    const [deleted, stopped] = [await put('1.0.0'), await put('1.1.0')];
    const behind = transactionIdOf(await tenant.api.delete(device.path));
    await tenant.api.delete(`${tenant.path}/packages/${CAMERA}/versions/1.0.0/binaries`);
    await tenant.api.delete(`${tenant.path}/packages/${CAMERA}/versions/1.1.0/distributions`);
    const link = await world.connect(device);
    t.match(await link.command(), { transactionId: behind }, 'the device hears of what comes after them only');
    const results = [(await tenant.event()).data.transaction, (await tenant.event()).data.transaction];
    results.sort((a, b) => Number(a['transactionId']) - Number(b['transactionId']));
    t.match(results, [
      { transactionId: deleted, status: 'failed', attempts: 0, error: { code: 'BINARY_DELETED' } },
      { transactionId: stopped, status: 'failed', attempts: 0, error: { code: 'DISTRIBUTION_STOPPED' } },
    ]);
    const never = 'SELECT subject FROM transactions WHERE published_at IS NULL ORDER BY transaction_id';
    t.same(await (await world.raw()).all(never), [{ subject: `${CAMERA}@1.0.0` }, { subject: `${CAMERA}@1.1.0` }]);
  },
);

t.test('a command that is being prepared keeps its place in the order', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const device = await world.activatedDevice(tenant);
  await distribute(tenant, '1.0.0', apk('camera-1.0.0.apk'));
  const answers = await Promise.all([
    tenant.api.put(`${device.path}/apps`, { json: { package: CAMERA, version: '1.0.0' } }),
    tenant.api.put(`${device.path}/settings/apn`, { json: [] }),
    tenant.api.put(`${device.path}/apps`, { json: { package: CAMERA, version: '1.0.0' } }),
    tenant.api.put(`${device.path}/settings/apn`, { json: [] }),
  ]);
  const ids = answers.map(transactionIdOf).sort((a, b) => a - b);
  const got = [];
  for (const _ of ids) got.push((await device.link.command()).transactionId);
  t.same(got, ids);
});

t.test('a device asks for a fresh URL while its install is unfinished, and for that binary only', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const device = await world.activatedDevice(tenant);
  const other = await world.activatedDevice(tenant);
  const binary = apk('camera-1.0.0.apk');
  await distribute(tenant, '1.0.0', binary);
  const json = { package: CAMERA, version: '1.0.0' };
  const transactionId = transactionIdOf(await tenant.api.put(`${device.path}/apps`, { json }));
  await device.link.command();
  const ask = async (link: typeof device.link, data: object) => {
    link.publish('requests', { requestId: 'r', type: 'softwareDownloadUrl', data });
    await link.next('puback');
    return JSON.parse((await link.next('publish')).payload.toString());
  };
  const fresh = await ask(device.link, { transactionId });
  t.match(fresh, { requestId: 'r', data: { size: binary.length } });
  t.equal((await fetch(fresh.data.url)).status, 200);
  t.match(await ask(other.link, { transactionId }), { error: { code: 'INVALID_PARAMETERS' } }, 'not another device');
  t.match(await ask(device.link, { transactionId: 'x' }), { error: { code: 'INVALID_PARAMETERS' } });
  await device.link.ack({ transactionId, status: 'failed', error: { code: 'STORAGE_FULL', message: 'full' } });
  t.match(
    await ask(device.link, { transactionId }),
    { error: { code: 'INVALID_PARAMETERS' } },
    'not once it is finished',
  );
});

t.test('a firmware update goes to a version of op 29’s list', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const device = await world.activatedDevice(tenant);
  const json = { package: 'com.lapel.firmware', version: '9.1.0' };
  const put = () => tenant.api.put(`${device.path}/firmware`, { json });
  t.match(await put(), { status: 400, body: { reason: 'firmware not found.' } });
  const path = `/admin/v1/firmware/${json.package}/versions/${json.version}`;
  await world.admin().put(path, { json: {} });
  t.match(await put(), { status: 400, body: { reason: 'binary is deleted.' } });
  const upload = await world.admin().post(`${path}/binaries`);
  await fetch(upload.body.urlList[0].uploadUrl, { method: 'PUT', body: 'firmware' });
  const answer = await put();
  t.equal(answer.status, 201);
  t.match(await device.link.command(), { operation: 'updateFirmware', parameters: { ...json, size: 8 } });
});

t.test('the firmware of a device is the last reported one', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const device = await world.activatedDevice(tenant);
  const read = async () => (await tenant.api.get(`${device.path}/firmware`)).body;
  t.same(await read(), { package: null, version: null, updatable: false });
  const report = async (firmwareVersion: string) => {
    device.link.publish('status', { firmwareVersion });
    await device.link.next('puback');
  };
  for (const version of ['9.1.0', '9.2.0']) {
    await world.admin().put(`/admin/v1/firmware/com.lapel.firmware/versions/${version}`, { json: {} });
  }
  await report('9.1.0');
  t.same(await read(), { package: 'com.lapel.firmware', version: '9.1.0', updatable: true });
  await report('9.2.0');
  t.same(await read(), { package: 'com.lapel.firmware', version: '9.2.0', updatable: false });
  await report('9.0.0');
  t.same(
    await read(),
    { package: 'com.lapel.firmware', version: '9.0.0', updatable: true },
    'also one that is not listed',
  );
});
