import t from 'tap';
import type { RawDevice } from '../raw-device.ts';
import { startWorld, type Tenant, transactionIdOf, WIFI } from '../world.ts';
import { faultsOf } from './operations.ts';

const OVER_LIMIT = { status: 403, body: { message: 'not contracted or activation limit exceeded.' } };
const TAKEN = { status: 403, body: { message: 'ClientId is already in use.' } };

/** Takes the device's next command, with PUBACK and answer. */
async function answerNext(link: RawDevice, status: 'succeeded' | 'failed' = 'succeeded') {
  const command = await link.command();
  link.puback(command.packet);
  await link.ack({ transactionId: command.transactionId, status });
  return command;
}

t.test('op 5 and op 6 keep the contract and the clientIds', async (t) => {
  const world = await startWorld(t);
  let tenants = 0;
  const newTenant = (wanted: { deviceLimit?: number | null } = {}): Promise<Tenant> => {
    tenants += 1;
    return world.createTenant(`dev${tenants}`, wanted);
  };
  const devicesOf = async (tenant: Tenant, count: number) => {
    const devices = [];
    for (let index = 0; index < count; index += 1) {
      const device = await world.registerDevice(tenant.developerId);
      devices.push({ ...device, path: `${tenant.path}/devices/${device.deviceId}` });
    }
    return devices;
  };
  const count = (statuses: number[], status: number): number => statuses.filter((one) => one === status).length;

  t.test('of 20 activations at once under a limit of 3 exactly 3 are accepted', async (t) => {
    const tenant = await newTenant({ deviceLimit: 3 });
    const devices = await devicesOf(tenant, 20);
    const answers = await Promise.all(devices.map(({ path }) => tenant.api.post(path, { json: {} })));
    const statuses = answers.map(({ status }) => status);
    t.equal(count(statuses, 201), 3);
    t.equal(count(statuses, 403), 17);
    for (const answer of answers.filter(({ status }) => status === 403)) t.match(answer, OVER_LIMIT);
    const refused = devices[statuses.indexOf(403)]!;
    t.match((await tenant.api.get(`${refused.path}/transactions`)).body, { total: 0 }, 'a refused one leaves nothing');
    t.match((await tenant.api.get(refused.path)).body, { status: 'deactivated' });
  });

  t.test('the limit is the developer’s: its applications share it', async (t) => {
    const tenant = await newTenant({ deviceLimit: 1 });
    const [one, two] = await devicesOf(tenant, 2);
    const made = await world.admin().post(`/admin/v1/developers/${tenant.developerId}/applications`, {
      json: { name: 'second' },
    });
    const path = `/v1/applications/${made.body.applicationId}`;
    const second = await world.clientOf(made.body.applicationId, made.body.secret);
    await second.post(`${path}/refresh_authkey`);
    await second.patch(path, { json: { deviceEvent: tenant.receiver.url } });
    t.match(await tenant.api.post(one!.path), { status: 201 });
    t.match(await second.post(`${path}/devices/${two!.deviceId}`), OVER_LIMIT);
    t.match(await second.post(`${path}/devices/${one!.deviceId}`), {
      status: 403,
      body: { message: 'device is already activated.' },
    });
  });

  t.test('a place in the contract is reserved until the device answers, and a failure gives it back', async (t) => {
    const tenant = await newTenant({ deviceLimit: 1 });
    const [one, two] = await devicesOf(tenant, 2);
    const link = await world.connect(one!);
    t.match(await tenant.api.post(one!.path), { status: 201 });
    t.match(await tenant.api.post(two!.path), OVER_LIMIT);
    await answerNext(link, 'failed');
    t.equal((await tenant.event()).type, 'transaction.failed');
    t.match((await tenant.api.get(one!.path)).body, { status: 'deactivated' });
    t.match(await tenant.api.post(two!.path), { status: 201 });
    t.match(await tenant.api.post(one!.path), OVER_LIMIT);
  });

  t.test('the cancel of a waiting activation gives the place back, also while others ask', async (t) => {
    const tenant = await newTenant({ deviceLimit: 1 });
    const [one, ...others] = await devicesOf(tenant, 5);
    const transactionId = transactionIdOf(await tenant.api.post(one!.path));
    const [cancelled, ...answers] = await Promise.all([
      tenant.api.delete(`${one!.path}/transactions/${transactionId}`),
      ...others.map(({ path }) => tenant.api.post(path)),
    ]);
    t.equal(cancelled!.status, 204);
    const statuses = answers.map(({ status }) => status);
    if (count(statuses, 201) === 0) t.match(await tenant.api.post(others[0]!.path), { status: 201 });
    else t.equal(count(statuses, 201), 1);
    t.match(await tenant.api.post(one!.path), OVER_LIMIT);
  });

  t.test('a deactivation gives the place back when it succeeds, not before, and not when it fails', async (t) => {
    const tenant = await newTenant({ deviceLimit: 1 });
    const [, two] = await devicesOf(tenant, 2);
    const one = await world.activatedDevice(tenant);
    t.match(await tenant.api.delete(one.path), { status: 201 });
    t.match(await tenant.api.post(two!.path), OVER_LIMIT, 'not before');
    t.equal((await answerNext(one.link, 'failed')).operation, 'deactivate');
    t.match(await tenant.api.post(two!.path), OVER_LIMIT, 'not when it fails');
    t.match((await tenant.api.get(one.path)).body, { status: 'activated' });
    t.match(await tenant.api.delete(one.path), { status: 201 });
    t.match((await answerNext(one.link)).parameters, { applicationId: tenant.applicationId });
    t.match((await tenant.api.get(one.path)).body, { status: 'deactivated' });
    t.match(await tenant.api.delete(one.path), { status: 403, body: { message: 'device is not activated.' } });
    t.match(await tenant.api.post(two!.path), { status: 201 });
  });

  t.test('a contract that ends or shrinks deactivates no device; one that grows allows more activations', async (t) => {
    const tenant = await newTenant({ deviceLimit: 2 });
    const one = await world.activatedDevice(tenant);
    const [two, three] = await devicesOf(tenant, 2);
    const contract = (deviceLimit: number | null) =>
      world.admin().patch(`/admin/v1/developers/${tenant.developerId}`, { json: { deviceLimit } });
    await contract(null);
    t.match(await tenant.api.post(two!.path), OVER_LIMIT, 'no contract');
    await contract(0);
    t.match(await tenant.api.post(two!.path), OVER_LIMIT, 'a contract for nothing');
    t.match((await tenant.api.get(one.path)).body, { status: 'activated' });
    t.match(await tenant.api.put(`${one.path}/settings/wifi`, { json: WIFI }), { status: 201 });
    await contract(2);
    t.match(await tenant.api.post(two!.path), { status: 201 });
    t.match(await tenant.api.post(three!.path), OVER_LIMIT);
    await contract(3);
    t.match(await tenant.api.post(three!.path), { status: 201 });
  });

  t.test('one device activated 20 times at once is activated once', async (t) => {
    const tenant = await newTenant();
    const [device] = await devicesOf(tenant, 1);
    const answers = await Promise.all(Array.from({ length: 20 }, () => tenant.api.post(device!.path)));
    t.equal(answers.filter(({ status }) => status === 201).length, 1);
    const message = 'device is already activated.';
    t.equal(answers.filter(({ status, body }) => status === 403 && body.message === message).length, 19);
    t.match((await tenant.api.get(`${device!.path}/transactions`)).body, { total: 1 });
  });

  t.test('one clientId asked for 20 devices of two developers at once is given once', async (t) => {
    const [first, second] = [await newTenant(), await newTenant()];
    const asked = [];
    for (const tenant of [first, second]) {
      for (const device of await devicesOf(tenant, 10)) asked.push({ tenant, ...device });
    }
    const json = { clientId: 'wanted by all' };
    const answers = await Promise.all(asked.map(({ tenant, path }) => tenant.api.post(path, { json })));
    const statuses = answers.map(({ status }) => status);
    t.equal(count(statuses, 201), 1);
    for (const answer of answers.filter(({ status }) => status !== 201)) t.match(answer, TAKEN);
    const winner = asked[statuses.indexOf(201)]!;
    const loser = asked.find(({ tenant }) => tenant !== winner.tenant)!;
    t.match(
      await loser.tenant.api.post(loser.path),
      { status: 201 },
      'without a clientId it is let in: nothing is held',
    );
  });

  t.test(
    'a clientId is free again after a failure, a cancel and a deactivation, also for another developer',
    async (t) => {
      const [owner, other] = [await newTenant(), await newTenant()];
      const [rival] = await devicesOf(other, 1);
      const [device] = await devicesOf(owner, 1);
      const link = await world.connect(device!);
      const json = { clientId: 'in turn' };
      const rivalTakesIt = async (): Promise<void> => {
        const answer = await other.api.post(rival!.path, { json });
        t.match(answer, { status: 201 });
        t.match(await owner.api.post(device!.path, { json }), TAKEN, 'and now it is the other’s');
        await other.api.delete(`${rival!.path}/transactions/${transactionIdOf(answer)}`);
      };
      await owner.api.post(device!.path, { json });
      t.match(await other.api.post(rival!.path, { json }), TAKEN);
      await answerNext(link, 'failed');
      await rivalTakesIt();
      await owner.api.post(device!.path, { json });
      await answerNext(link);
      t.match((await owner.api.get(device!.path)).body, { status: 'activated', clientId: 'in turn' });
      t.match(await other.api.post(rival!.path, { json }), TAKEN);
      await owner.api.delete(device!.path);
      await answerNext(link);
      await rivalTakesIt();
    },
  );

  t.test('a clientId has 1 to 128 characters; without one the service makes one, and the device gets it', async (t) => {
    const tenant = await newTenant();
    const [long, own, wrong] = await devicesOf(tenant, 3);
    const faults = async (json: unknown) => faultsOf(await tenant.api.post(wrong!.path, { json }));
    t.match(await tenant.api.post(long!.path, { json: { clientId: '語'.repeat(128) } }), { status: 201 });
    t.same(await faults({ clientId: 'x'.repeat(129) }), ['body.clientId string_too_long']);
    t.same(await faults({ clientId: '' }), ['body.clientId string_too_short']);
    t.same(await faults({ clientId: null }), ['body.clientId string_type']);
    t.same(await faults({ clientId: 7 }), ['body.clientId string_type']);
    t.same(await faults({ clientID: 'x' }), ['body.clientID extra_forbidden']);
    t.same(await faults(null), ['body dict_type']);
    t.same(await faults('x'), ['body dict_type']);
    const link = await world.connect(own!);
    await tenant.api.post(own!.path);
    const { operation, parameters } = await answerNext(link);
    t.match({ operation, parameters }, { operation: 'activate', parameters: { applicationId: tenant.applicationId } });
    const { clientId } = (await tenant.api.get(own!.path)).body;
    t.equal(clientId, parameters['clientId']);
    t.ok(clientId.length > 0);
  });

  t.test(
    'a successful deactivation cancels the other unfinished transactions, each with one event, and the device is told',
    async (t) => {
      const tenant = await newTenant();
      const device = await world.activatedDevice(tenant);
      const put = async () => transactionIdOf(await tenant.api.put(`${device.path}/settings/wifi`, { json: WIFI }));
      const delivered = await put();
      const processing = await put();
      for (const id of [delivered, processing]) {
        const command = await device.link.command();
        t.equal(command.transactionId, id);
        device.link.puback(command.packet);
      }
      await device.link.ack({ transactionId: processing, status: 'processing', progress: 40 });
      const deactivation = transactionIdOf(await tenant.api.delete(device.path));
      const twice = transactionIdOf(await tenant.api.delete(device.path));
      await answerNext(device.link);
      t.match((await device.link.command()).operation, 'deactivate');
      const events: string[] = [];
      for (let index = 0; index < 4; index += 1) {
        const { type, data } = await tenant.event();
        events.push(`${type} ${Number(data.transaction['transactionId'])}`);
      }
      t.same(events.sort(), [
        ...[delivered, processing, twice].map((id) => `transaction.cancelled ${id}`),
        `transaction.succeeded ${deactivation}`,
      ]);
      for (const id of [delivered, processing, twice]) {
        t.match(await device.link.command(), { transactionId: id, operation: 'cancel' });
      }
      t.match((await tenant.api.get(`${device.path}/transactions/${processing}`)).body, {
        status: 'cancelled',
        progress: 40,
        completedAt: '2026-11-20T18:30:00.123456',
      });
      t.match((await tenant.api.get(`${device.path}/transactions?status=queued`)).body, { total: 0 });
      await world.idle();
      t.equal(tenant.receiver.requests.length, 5, 'with the activation’s: no event came twice');
    },
  );

  t.test('a deactivation that fails, or is cancelled, cancels nothing', async (t) => {
    const tenant = await newTenant();
    const device = await world.activatedDevice(tenant);
    const kept = transactionIdOf(await tenant.api.put(`${device.path}/settings/wifi`, { json: WIFI }));
    t.equal((await device.link.command()).transactionId, kept);
    await tenant.api.delete(device.path);
    await answerNext(device.link, 'failed');
    const again = transactionIdOf(await tenant.api.delete(device.path));
    t.match(await tenant.api.delete(`${device.path}/transactions/${again}`), { status: 204 });
    t.match((await tenant.api.get(`${device.path}/transactions/${kept}`)).body, { status: 'queued' });
    t.match((await tenant.api.get(device.path)).body, { status: 'activated' });
  });
});
