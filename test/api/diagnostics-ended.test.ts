import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createDevice } from '@lapel/device-sim/model/device';
import t, { type Test } from 'tap';
import { until } from '../until.ts';
import { startWorld } from '../world.ts';

/** A simulated device, and a store that gives URLs and answers no upload until it is told. */
async function start(t: Test) {
  const waiting: ServerResponse[] = [];
  let broken = 0;
  const server = createServer((request, response) => {
    const { port } = server.address() as AddressInfo;
    if (request.method !== 'PUT') {
      const uploadUrl = `http://127.0.0.1:${port}/file`;
      request.resume().on('end', () => {
        response.setHeader('content-type', 'application/json');
        response.end(JSON.stringify({ uploadUrl, method: 'PUT', headers: {} }));
      });
      return;
    }
    request.resume();
    waiting.push(response);
    response.on('close', () => {
      if (!response.writableEnded) broken += 1;
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.closeAllConnections());
  t.teardown(() => server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const registered = await world.registerDevice();
  const path = `${tenant.path}/devices/${registered.deviceId}`;
  await tenant.api.patch(tenant.path, { json: { fileUploadGetUrl: url, fileUploadEvent: tenant.receiver.url } });
  const device = createDevice({ ...registered, url: world.service.addresses.mqtt });
  t.teardown(() => device[Symbol.asyncDispose]());
  await device.connect();
  await tenant.api.post(path, { json: {} });
  t.equal((await tenant.event()).type, 'transaction.succeeded');
  const ask = async (query = '') =>
    (await tenant.api.post(`${path}/diagnostics${query}`, { json: { kinds: ['logs'] } })).body.transactionId as number;
  return { world, tenant, device, path, waiting, broken: () => broken, ask };
}

t.test('a cancel ends the upload of diagnostics; the device goes on with the next command', async (t) => {
  const { tenant, device, path, waiting, broken, ask } = await start(t);
  const transactionId = await ask();
  await until(() => waiting.length === 1);
  await tenant.api.delete(`${path}/transactions/${transactionId}`);
  t.match(await tenant.event(), { type: 'transaction.cancelled' });
  await until(() => broken() === 1);
  await device.idle();
  t.equal(device.outstanding, 0);
  await ask();
  await until(() => waiting.length === 2);
  waiting[1]!.end();
  const types = [(await tenant.event()).type, (await tenant.event()).type];
  t.same(types.sort(), ['fileUpload.succeeded', 'transaction.succeeded']);
});

t.test('newer diagnostics take the place of those whose upload hangs', async (t) => {
  const { tenant, waiting, broken, ask } = await start(t);
  await ask();
  await until(() => waiting.length === 1);
  await ask('?supersede=true');
  t.match(await tenant.event(), { type: 'transaction.cancelled' });
  await until(() => waiting.length === 2);
  await until(() => broken() === 1);
});

t.test('a cancel ends diagnostics that wait behind an upload of the device which hangs', async (t) => {
  const { tenant, device, path, waiting, ask } = await start(t);
  device.uploadFile();
  await until(() => waiting.length === 1);
  const transactionId = await ask();
  await until(() => device.executions.get(transactionId) === 1);
  await tenant.api.delete(`${path}/transactions/${transactionId}`);
  t.match(await tenant.event(), { type: 'transaction.cancelled' });
  await device[Symbol.asyncDispose]();
  t.equal(waiting.length, 1);
});

t.test('a device that is put away in the middle of an upload ends it', async (t) => {
  const { device, waiting, broken, ask } = await start(t);
  await ask();
  await until(() => waiting.length === 1);
  await device[Symbol.asyncDispose]();
  await until(() => broken() === 1);
});

t.test('diagnostics fail when the settings are removed while the command waits', async (t) => {
  const { tenant, device, ask } = await start(t);
  await device.disconnect();
  await ask();
  await tenant.api.patch(tenant.path, { json: { fileUploadGetUrl: null, fileUploadEvent: null } });
  await device.connect();
  const { type, data } = await tenant.event();
  t.equal(type, 'transaction.failed');
  t.match(data.transaction, { error: { code: 'UPLOAD_FAILED', message: /NOT_CONFIGURED/ } });
});
