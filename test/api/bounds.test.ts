import { Writable } from 'node:stream';
import { Webhook } from 'standardwebhooks';
import t from 'tap';
import { createLog } from '../../src/runtime/log.ts';
import { startWorld, transactionIdOf, WIFI } from '../world.ts';
import { OPERATIONS, targetOf } from './operations.ts';

t.test(
  'a device has at most 1000 unfinished transactions, from any application and with any number of calls at once',
  async (t) => {
    const world = await startWorld(t);
    const tenant = await world.createTenant();
    const device = await world.activatedDevice(tenant);
    const neighbour = await world.activatedDevice(tenant);
    await device.link.drop();
    const put = () => tenant.api.put(`${device.path}/settings/wifi`, { json: WIFI });
    const ids: number[] = [];
    for (let count = 0; count < 9; count += 1) {
      ids.push(...(await Promise.all(Array.from({ length: 110 }, put))).map(transactionIdOf));
    }
    const last = await Promise.all(Array.from({ length: 30 }, put));
    t.equal(last.filter(({ status }) => status === 201).length, 10);
    const refused = last.filter(({ status }) => status === 429);
    t.equal(refused.length, 20);
    for (const answer of refused) {
      t.match(answer.body, { message: 'the device has 1000 unfinished transactions and may not have more.' });
      t.match(answer.headers['retry-after'], /^[1-9]\d*$/);
    }
    t.match(await tenant.api.put(`${device.path}/settings/apn`, { json: [] }), { status: 429 }, 'op 10');
    t.match((await tenant.api.get(`${device.path}/transactions`)).body, { total: 1001 }, 'the refused are not stored');
    t.match(await tenant.api.put(`${neighbour.path}/settings/wifi`, { json: WIFI }), { status: 201 }, 'another device');

    await tenant.api.delete(`${device.path}/transactions/${ids[0]}`);
    t.match(await put(), { status: 201 }, 'one that is over makes room for one');
    t.match(await put(), { status: 429 });
    const link = await world.connect(device);
    const command = await link.command();
    await link.ack({ transactionId: command.transactionId, status: 'failed' });
    t.match(await put(), { status: 201 });

    for (let count = 0; count < 16; count += 1) {
      t.match(await tenant.api.delete(device.path), { status: 201 }, 'op 6: a device that is stuck must be able to go');
    }
    t.match(await tenant.api.delete(device.path), { status: 429 }, 'but not without end');
  },
);

t.test('large commands are bounded one by one, for a device, and for all devices of an application', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const device = await world.activatedDevice(tenant);
  const other = await world.activatedDevice(tenant);
  for (const { link } of [device, other]) await link.drop();
  const put = ({ path }: { path: string }, length: number) =>
    tenant.api.put(`${path}/settings/apn`, { json: [{ name: 'x'.repeat(length), apn: 'a' }] });

  const overhead = Buffer.byteLength(JSON.stringify({ apns: [{ name: '', apn: 'a' }] }));
  const largest = 64 * 1024 - overhead;
  t.equal((await put(device, largest)).status, 201);
  const tooLarge = await put(device, largest + 1);
  t.equal(tooLarge.status, 400);
  t.match(tooLarge.body.details, [{ loc: ['body'], msg: 'Body should make a command of at most 64 KiB' }]);
  t.equal((await put(device, 22_000)).status, 201, 'a text of one byte a character');
  const umlauts = await tenant.api.put(`${device.path}/settings/apn`, {
    json: [{ name: 'ü'.repeat(33_000), apn: 'a' }],
  });
  t.equal(umlauts.status, 400, 'bytes count, not characters');

  const answers = await Promise.all(Array.from({ length: 70 }, () => put(device, largest)));
  const refused = answers.filter(({ status }) => status === 429);
  t.equal(answers.length - refused.length, 62, '4 MiB in all');
  t.match(refused[0]?.body, { message: 'more than 4 MiB of commands wait to be delivered.' });
  t.ok(Number(refused[0]?.headers['retry-after']) > 0);
  t.equal((await put(device, 10)).status, 201, 'a small one is no matter of bytes');
  t.equal((await put(other, largest)).status, 201, 'nor one for another device');

  const database = await world.raw();
  // As if other devices of the application already had 256 MiB in the queue.
  const insert = `INSERT INTO transactions (device_id, application_id, operation, parameters, status, due,
    attempts, created_at, updated_at) VALUES (?, ?, 'setApn', ?, 'queued', 1, 0, 0, 0)`;
  const text = JSON.stringify({ apns: 'x'.repeat(4 * 1024 * 1024) });
  for (let index = 0; index < 64; index += 1) await database.all(insert, `away-${index}`, tenant.applicationId, text);
  t.match(await put(other, largest), { status: 429, body: { message: /256 MiB/ } });
  t.equal((await put(other, 10)).status, 201);
  const neighbour = await world.createTenant('neighbour');
  const theirs = await world.activatedDevice(neighbour);
  const json = [{ name: 'x'.repeat(largest), apn: 'a' }];
  t.equal((await neighbour.api.put(`${theirs.path}/settings/apn`, { json })).status, 201, 'nor another application');
  const { values } = await world.service.metrics.transactionsRefused.get();
  t.strictSame(
    values.map(({ labels, value }) => [labels.bound, value]),
    [
      ['parameters', 2],
      ['device_bytes', 8],
      ['application_bytes', 1],
    ],
  );
});

t.test('a new key signs from the next webhook on, and the former key signs as well for a day', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const device = await world.activatedDevice(tenant);
  const settle = async () => {
    const transactionId = transactionIdOf(await tenant.api.put(`${device.path}/settings/wifi`, { json: WIFI }));
    device.link.puback((await device.link.command()).packet);
    await device.link.ack({ transactionId, status: 'succeeded' });
    return tenant.event();
  };
  const keys = [tenant.authenticationKey];
  for (let round = 0; round < 3; round += 1) {
    const { body, headers } = await settle();
    for (const [index, key] of keys.entries()) {
      const signature = String(headers['webhook-signature']);
      const signed = new Webhook(key).sign(
        String(headers['webhook-id']),
        new Date(Number(headers['webhook-timestamp']) * 1000),
        body.toString(),
      );
      const current = index === keys.length - 1;
      t.equal(signature.split(' ').includes(signed), index >= keys.length - 2, `round ${round}: key ${index}`);
      t.equal(signature.split(' ')[0] === signed, current, 'the new one first');
    }
    keys.push((await tenant.api.post(`${tenant.path}/refresh_authkey`)).body.authenticationKey);
  }
});

t.test('without deviceEvent no new transaction is accepted; those in progress still end', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const device = await world.activatedDevice(tenant);
  const transactionId = transactionIdOf(await tenant.api.put(`${device.path}/settings/wifi`, { json: WIFI }));
  await tenant.api.patch(tenant.path, { json: { deviceEvent: null } });
  t.match(await tenant.api.put(`${device.path}/settings/wifi`, { json: WIFI }), {
    status: 404,
    body: { message: 'system notification destination is not configured.' },
  });
  await device.link.ack({ transactionId, status: 'succeeded' });
  t.match((await tenant.api.get(`${device.path}/transactions/${transactionId}`)).body, { status: 'succeeded' });
});

t.test(
  'an internal error is answered 500 without details, is logged with its request id, and does not persist',
  async (t) => {
    const lines: Record<string, unknown>[] = [];
    const destination = new Writable({
      write(chunk: Buffer, _, done) {
        lines.push(
          ...chunk
            .toString()
            .trim()
            .split('\n')
            .map((line) => JSON.parse(line)),
        );
        done();
      },
    });
    const world = await startWorld(t, { log: createLog({ level: 'info', destination }) });
    const tenant = await world.createTenant();
    const device = await world.activatedDevice(tenant);
    const transactionId = transactionIdOf(await tenant.api.put(`${device.path}/settings/wifi`, { json: WIFI }));
    const { applicationId } = tenant;
    const { deviceId } = device;
    const database = await world.raw();
    const everything = ['transactions', 'devices', 'applications'];
    for (const table of everything) await database.exec(`ALTER TABLE ${table} RENAME TO ${table}_away`);

    const secrets = [tenant.secret, tenant.authenticationKey];
    const broken = OPERATIONS.filter(({ op }) => !['op 1'].includes(op));
    for (const [index, row] of broken.entries()) {
      const id = `broken-${index}`;
      const answer = await tenant.api.request(row.method, targetOf(row, { applicationId, deviceId, transactionId }), {
        ...(row.json !== undefined && { json: row.op === 'op 2' ? { callEvent: 'https://a.example' } : row.json }),
        headers: { 'x-request-id': id },
      });
      t.match(answer, { status: 500, body: { message: 'internal error.' }, headers: { 'x-request-id': id } }, row.op);
      t.same(Object.keys(answer.body), ['message']);
      const line = lines.find(({ requestId }) => requestId === id);
      t.match(line, { level: 50, method: row.method, status: 500, err: { message: /no such table|does not exist/ } });
    }
    for (const secret of secrets) t.notMatch(JSON.stringify(lines), secret);

    for (const table of everything) await database.exec(`ALTER TABLE ${table}_away RENAME TO ${table}`);
    t.match(await tenant.api.get(`${device.path}/transactions/${transactionId}`), { status: 200 });
    t.match(await tenant.api.put(`${device.path}/settings/wifi`, { json: WIFI }), { status: 201 });
  },
);
