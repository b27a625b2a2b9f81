import { createHash } from 'node:crypto';
import { createDevice } from '@lapel/device-sim/model/device';
import t, { type Test } from 'tap';
import { checkWebhook } from '../contract/checked-messages.ts';
import { until } from '../until.ts';
import { createTestReceiver } from '../webhooks/test-receiver.ts';
import { startWorld } from '../world.ts';
import { faultsOf } from './operations.ts';

const FILES = [
  { kind: 'logs', fileId: 'diagnostics-1-logs', name: 'log.txt', size: 3, sha256: '0'.repeat(64) },
  { kind: 'network', fileId: 'diagnostics-1-network', name: 'network.json', size: 0, sha256: 'f'.repeat(64) },
];

t.test('diagnostics of a device', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const { api } = tenant;
  const device = await world.activatedDevice(tenant);
  const uploads = { fileUploadGetUrl: tenant.receiver.url, fileUploadEvent: tenant.receiver.url };
  const configure = (settings: object) => api.patch(tenant.path, { json: settings });
  const ask = (json: unknown) => api.post(`${device.path}/diagnostics`, { json });

  await t.test('are refused while the application has no file uploads, with the name of the setting', async (t) => {
    const refused = async (settings: object): Promise<unknown> => {
      await configure(settings);
      const { status, body } = await ask({ kinds: ['logs'] });
      return `${status} ${body.message}`;
    };
    const message = (setting: string): string => `404 file uploads are not configured: ${setting} is not set.`;
    t.equal(await refused({}), message('fileUploadGetUrl'));
    t.equal(await refused({ ...uploads, fileUploadEvent: null }), message('fileUploadEvent'));
    t.equal(await refused({ ...uploads, fileUploadGetUrl: null }), message('fileUploadGetUrl'));
    t.equal((await api.get(`${device.path}/transactions?operation=collectDiagnostics`)).body.transactions.length, 0);
    const rollout = { operation: 'collectDiagnostics', parameters: { kinds: ['logs'] }, devices: {} };
    const { status, body } = await api.post(`${tenant.path}/rollouts`, { json: rollout });
    t.equal(`${status} ${body.message}`, message('fileUploadGetUrl'), 'also as a rollout');
    await configure(uploads);
  });

  await t.test('are a command whose result names the files; the note stays when its parameters are gone', async (t) => {
    const note = 'loses its connection';
    const { status, body } = await ask({ kinds: ['logs', 'network', 'logs'], note });
    t.equal(status, 201);
    const { transactionId } = body;
    const command = await device.link.command();
    t.match(command, { transactionId, operation: 'collectDiagnostics' });
    t.same(command.parameters, { kinds: ['logs', 'network'], note }, 'each kind once');
    device.link.puback(command.packet);
    await device.link.ack({ transactionId, status: 'succeeded', result: { files: FILES } });
    const { type, data } = await tenant.event();
    t.equal(type, 'transaction.succeeded');
    t.same(data.transaction['result'], { files: FILES });
    const shown = (await world.admin().get(`/admin/v1/transactions/${transactionId}`)).body;
    t.match(shown, { subject: `logs, network: ${note}`, parameters: null });
  });

  await t.test('wrong input is answered with every fault', async (t) => {
    // biome-ignore format: a table is read by its rows
    const faulty: [json: unknown, ...faults: string[]][] = [
      [{}, 'body.kinds missing'],
      [{ kinds: [] }, 'body.kinds greater_than_equal'],
      [{ kinds: ['core'], note: '', x: 1 }, 'body.kinds.0 enum', 'body.note string_too_short', 'body.x extra_forbidden'],
      [{ kinds: 'logs', note: 'x'.repeat(201) }, 'body.kinds list_type', 'body.note string_too_long'],
    ];
    for (const [json, ...faults] of faulty) {
      const answer = await ask(json);
      t.equal(answer.status, 400, JSON.stringify(json));
      t.same(faultsOf(answer).sort(), faults.sort());
    }
  });
});

/** The answer of a customer to a request for an upload URL. */
const urlAnswer = (uploadUrl: string) => ({
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ uploadUrl, method: 'PUT', headers: {} }),
});

/** A simulated device that is activated, and the server of the customer's URLs. */
async function startSimulated(t: Test) {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const { api } = tenant;
  const store = await createTestReceiver(t);
  const registered = await world.registerDevice();
  const path = `${tenant.path}/devices/${registered.deviceId}`;
  await api.patch(tenant.path, {
    json: { fileUploadGetUrl: `${store.url}/url`, fileUploadEvent: `${store.url}/event` },
  });
  const device = createDevice({ ...registered, url: world.service.addresses.mqtt });
  t.teardown(() => device[Symbol.asyncDispose]());
  await device.connect();
  await api.post(path, { json: {} });
  t.equal((await tenant.event()).type, 'transaction.succeeded');
  return { device, tenant, api, path, store };
}

t.test('a simulated device uploads its diagnostics, and names the bytes that the store has', async (t) => {
  const { tenant, api, path, store } = await startSimulated(t);
  store.answer(({ path: asked, body }) => {
    if (!asked.endsWith('/url')) return {};
    return urlAnswer(`${store.url}/files/${JSON.parse(body.toString()).data.fileId}`);
  });
  const json = { kinds: ['logs', 'status'], note: 'why' };
  const { transactionId } = (await api.post(`${path}/diagnostics`, { json })).body;
  const { type, data } = await tenant.event();
  t.equal(type, 'transaction.succeeded');
  const { files } = data.transaction['result'] as { files: Record<'kind' | 'fileId' | 'sha256', string>[] };
  const stored = new Map(
    store.requests.filter(({ method }) => method === 'PUT').map(({ path: at, body }) => [at, body]),
  );
  t.equal(stored.size, 2);
  t.same(
    files.map(({ kind, fileId }) => [kind, fileId]),
    json.kinds.map((kind) => [kind, `diagnostics-${transactionId}-${kind}`]),
  );
  for (const { fileId, sha256 } of files) {
    const body = stored.get(`/hook/files/${fileId}`) ?? Buffer.alloc(0);
    t.equal(sha256, createHash('sha256').update(body).digest('hex'), fileId);
  }
  t.match(stored.get(`/hook/files/diagnostics-${transactionId}-logs`)?.toString(), /note: "why"/);
  await until(() => store.requests.filter(({ path: at }) => at.endsWith('/event')).length === 2);
  const told = store.requests
    .filter(({ path: at }) => at.endsWith('/event'))
    .map(({ body }) => JSON.parse(body.toString()));
  for (const event of told) checkWebhook(JSON.stringify(event));
  t.same(
    new Set(told.map((event) => `${event.type} ${event.data.sha256}`)),
    new Set(files.map(({ sha256 }) => `fileUpload.succeeded ${sha256}`)),
  );
});

t.test('a file is uploaded again when the store says that it has other bytes', async (t) => {
  const { tenant, api, path, store } = await startSimulated(t);
  const stored: Buffer[] = [];
  store.answer(({ method, body }) => {
    if (method !== 'PUT') return urlAnswer(`${store.url}/file`);
    stored.push(body);
    const kept = stored.length === 1 ? Buffer.from('half of it') : body;
    return { headers: { 'x-amz-checksum-sha256': createHash('sha256').update(kept).digest('base64') } };
  });
  await api.post(`${path}/diagnostics`, { json: { kinds: ['status'] } });
  t.equal((await tenant.event()).type, 'transaction.succeeded');
  t.equal(stored.length, 2);
});

t.test('a simulated device without an upload URL answers, and names the reason', async (t) => {
  const { device, tenant, api, path, store } = await startSimulated(t);
  store.answer({ status: 403 });
  await api.post(`${path}/diagnostics`, { json: { kinds: ['status'] } });
  const { type, data } = await tenant.event();
  t.equal(type, 'transaction.failed');
  t.match(data.transaction, { error: { code: 'UPLOAD_FAILED', message: /^diagnostics-\d+-status\.json: / } });
  await device.idle();
  t.equal(device.outstanding, 0);
});
