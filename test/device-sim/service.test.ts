import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readCommandLine } from '@lapel/device-sim/command-line';
import { movie } from '@lapel/device-sim/files/movie';
import type { OwnFile } from '@lapel/device-sim/files/uploader';
import { createDevice } from '@lapel/device-sim/model/device';
import { createPackageLink } from '@lapel/device-sim/mqtt/package-link';
import { run } from '@lapel/device-sim/run';
import t from 'tap';
import { checkMessage, checkUploadUrlRequest, checkWebhook } from '../contract/checked-messages.ts';
import { createFakeClock } from '../fake-clock.ts';
import { createTestReceiver } from '../webhooks/test-receiver.ts';
import { startWorld, transactionIdOf } from '../world.ts';
import { startUploadServer } from './files/upload-server.ts';

type Event = { type: string; data: Record<string, unknown> };
type Asked = { data: { files?: { name: string }[]; name: string } };

/** The real service, a tenant whose settings all lead to one receiver, and a store for uploads. */
t.test('a wearable and the real service', async (t) => {
  const clock = createFakeClock(Date.now() * 1000); // webhooks are verified against the real time
  const world = await startWorld(t, { clock, env: { LAPEL_ALLOW_HTTP_WEBHOOKS: 'true' } });
  const tenant = await world.createTenant();
  const store = await startUploadServer();
  t.teardown(() => store[Symbol.asyncDispose]());
  const customer = await createTestReceiver(t);
  customer.answer(({ path, body }) => {
    const { data } = checkUploadUrlRequest(
      path.endsWith('/file') ? 'uploadUrlRequest' : 'uploadUrlsRequest',
      body,
    ) as Asked;
    const target = ({ name }: { name: string }) => ({
      name,
      uploadUrl: store.url(`/${name}`),
      headers: { 'x-tag': '1' },
    });
    const answer = data.files ? { urls: data.files.map(target) } : target(data);
    return { headers: { 'content-type': 'application/json' }, body: JSON.stringify(answer) };
  });
  const events: Event[] = [];
  const arrived: (() => void)[] = [];
  tenant.receiver.answer(({ body }) => {
    events.push(checkWebhook(body) as unknown as Event);
    for (const wake of arrived.splice(0)) wake();
    return {};
  });
  const told = async (type: string): Promise<Event['data']> => {
    for (;;) {
      const at = events.findIndex((event) => event.type === type);
      if (at >= 0) return events.splice(at, 1)[0]!.data;
      await new Promise<void>((resolve) => arrived.push(resolve));
    }
  };

  const { deviceId, credential } = await world.registerDevice();
  const device = createDevice({
    deviceId,
    credential,
    url: world.service.addresses.mqtt,
    createLink: createPackageLink,
    behaviour: { fileSize: { min: 1000, max: 2000 } },
    equipment: { firmwareVersion: '8.900.0' },
  });
  t.teardown(() => device[Symbol.asyncDispose]());
  const complaints: unknown[] = [];
  device.events.on('complaint', (complaint) => complaints.push(complaint));
  device.events.on('violation', (fault) => complaints.push(fault));
  const uploaded: OwnFile[] = [];
  device.events.on('upload', (file) => uploaded.push(file));
  device.events.on('event', (event) => checkMessage(`devices/${deviceId}/events`, JSON.stringify(event)));
  const path = `${tenant.path}/devices/${deviceId}`;
  await device.connect();
  await tenant.api.post(path, { json: {} });
  await told('transaction.succeeded');

  t.test('op 7 shows its reported status', async (t) => {
    await device.idle();
    const { body } = await tenant.api.get(`${path}/status`);
    t.match(body, {
      connected: true,
      lang: 'en-US',
      firmwareVersion: '8.900.0',
      managementClientVersion: '2.3.1',
      battery: { level: Number },
      network: { type: 'mobile', ssid: null },
      bluetooth: { enabled: false },
      software: [],
    });
    await tenant.api.put(`${path}/settings/lang`, { json: { lang: 'ja' } });
    await told('transaction.succeeded');
    t.equal((await tenant.api.get(`${path}/status`)).body.lang, 'ja');
  });

  t.test('an old firmware ignores a Bluetooth command; after an update it answers the repetition', async (t) => {
    const asked = transactionIdOf(await tenant.api.get(`${path}/connectivity/state?type=bluetooth`));
    const record = () => tenant.api.get(`${path}/transactions/${asked}`);
    await tenant.api.put(`${path}/settings/lang`, { json: { lang: 'fr' } });
    await told('transaction.succeeded');
    await world.idle();
    t.match((await record()).body, { status: 'delivered', warning: { code: 'FIRMWARE_TOO_OLD' } });
    await device.disconnect();
    Object.assign(device.state, { firmwareVersion: '9.2.0' });
    await device.connect();
    t.match(await told('transaction.succeeded'), {
      transaction: { transactionId: asked, result: { enabled: false } },
    });
    t.equal((await record()).body.warning, null);
  });

  t.test('Bluetooth is switched on, listed and paired, and connections and disconnections arrive', async (t) => {
    await tenant.api.put(`${path}/connectivity/state`, { json: { type: 'bluetooth', enabled: true } });
    await told('transaction.succeeded');
    await tenant.api.get(`${path}/connectivity/list?type=bluetooth`);
    const { transaction } = (await told('transaction.succeeded')) as {
      transaction: { result: { devices: { name: string; macAddress: string }[] } };
    };
    const [, { name, macAddress } = { name: '', macAddress: '' }] = transaction.result.devices;
    await tenant.api.post(`${path}/bluetooth/devices`, { json: { macAddress } });
    t.match(await told('transaction.succeeded'), { transaction: { result: { name, macAddress } } });
    t.match(await told('bluetooth.connected'), { deviceId, name, macAddress });
    device.movePeer();
    t.match(await told('bluetooth.disconnected'), { deviceId, name, macAddress });
    device.pressButton();
    t.match(await told('custom.sos'), { deviceId, button: 'side' });
    await tenant.api.post(`${path}/bluetooth/devices`, { json: { macAddress: '00:00:00:00:00:00' } });
    t.match(await told('transaction.failed'), { transaction: { error: { code: 'INVALID_PARAMETERS' } } });
  });

  t.test('without the settings nothing is uploaded and nothing is reported', async (t) => {
    const outcomes: string[] = [];
    device.events.on('uploaded', ({ kind }) => outcomes.push(kind));
    device.uploadFile();
    device.call({ milliseconds: 0, recorded: true, others: 1 });
    await device.idle();
    await world.idle();
    t.strictSame(outcomes, ['unwanted', 'unwanted']);
    t.strictSame(events, []);
  });

  t.test('with the settings a recording and a file are uploaded to the customer, byte for byte', async (t) => {
    const { url } = tenant.receiver;
    await tenant.api.patch(tenant.path, {
      json: {
        callEvent: url,
        callFileSendEvent: url,
        fileUploadEvent: url,
        callRecGetMultiPresignedUrl: `${customer.url}/recording`,
        fileUploadGetUrl: `${customer.url}/file`,
      },
    });
    const callId = device.call({ milliseconds: 0, recorded: true, others: 2 });
    t.match(await told('call.started'), { callId, deviceId });
    t.match(await told('call.ended'), { callId });
    const { connections } = (await told('recording.saved')) as { connections: { movieFile: string }[] };
    const fileId = device.uploadFile();
    const file = await told('fileUpload.succeeded');
    t.match(file, { fileId, deviceId });
    const names = [...connections.map(({ movieFile }) => movieFile), file['name']];
    t.strictSame(
      uploaded.map(({ name }) => name),
      names,
    );
    for (const own of uploaded) {
      t.ok(store.files.get(`/${own.name}`)?.content.equals(Buffer.concat([...movie(own)])), 'byte for byte');
      t.equal(store.files.get(`/${own.name}`)?.headers['x-tag'], '1');
    }
  });

  t.test('a failing customer gets one report, from the service; the device sends none', async (t) => {
    customer.answer(() => ({ status: 404 }));
    const fileId = device.uploadFile();
    t.match(await told('fileUpload.failed'), { fileId, error: { code: 'UPLOAD_URL_FAILED' } });
    await device.idle();
    await world.idle();
    t.strictSame(events, []);
    t.strictSame(complaints, []);
  });

  t.test('a fleet of another run knows that it is activated, and lives', async (t) => {
    const { admin, http, mqtt } = world.service.addresses;
    const file = join(t.testdir(), 'lives.yaml');
    const life = '{ calls: 18000/h, callLength: 0s, recorded: 0 % }';
    writeFileSync(
      file,
      `name: lives\ndevices: 3\nconnectRate: 0/s\ngroups: [{ name: all, life: ${life} }]\nphases: [{ name: work, duration: 500ms }]\n`,
    );
    const args = [
      ...`--admin ${admin} --api ${http} --mqtt ${mqtt} --admin-token ${world.service.adminToken}`.split(' '),
      ...`--developer ${tenant.developerId} --application ${tenant.applicationId} --secret ${tenant.secret}`.split(' '),
      'run',
      file,
    ];
    const options = { stopped: new AbortController().signal, stream: { write: () => {} } };
    for (const activations of [3, 0]) {
      const command = readCommandLine(args, {});
      if (command.do !== 'run') return t.fail('no run');
      const { record } = await run(command.settings, options);
      const { fleet } = record.chapters[0]!;
      t.match(fleet, { activated: 3, commands: activations, complaints: 0, violations: 0, eventsLost: 0 });
      t.strictSame(record.troubles, []);
      t.ok(record.verdicts.every(({ holds }) => holds));
      t.ok(fleet['calls']! > 0 && fleet['events']! >= fleet['calls']!, `${fleet['calls']} calls`);
    }
  });
});
