import t from 'tap';
import { startWorld, transactionIdOf } from '../world.ts';

// The specification's state table "Device activation"; each title is a row: state, event, next state.
t.test('device activation', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant('dev', { deviceLimit: 2 });
  const { api, path } = tenant;
  const activation = async (deviceId: string) => (await api.get(`${path}/devices/${deviceId}`)).body;
  /** A device that is online and answers each command with success. */
  async function newDevice() {
    const device = await world.registerDevice();
    const link = await world.connect(device);
    return {
      ...device,
      async obey(transactionId: number): Promise<void> {
        const command = await link.command();
        t.equal(command.transactionId, transactionId);
        link.puback(command.packet);
        await link.ack({ transactionId, status: 'succeeded' });
        t.match(await tenant.event(), { type: 'transaction.succeeded', data: { transaction: { transactionId } } });
      },
    };
  }
  const first = await newDevice();
  const second = await newDevice();
  const third = await newDevice();

  t.test('deactivated -> POST activation -> activated', async (t) => {
    t.same(await activation(first.deviceId), { status: 'deactivated' });
    const answer = await api.post(`${path}/devices/${first.deviceId}`, { json: { clientId: 'camera-1' } });
    const transactionId = transactionIdOf(answer);
    t.equal(answer.status, 201);
    t.match(answer.headers['location'], new RegExp(`${path}/devices/${first.deviceId}/transactions/${transactionId}$`));
    t.same(await activation(first.deviceId), { status: 'deactivated' }, 'the result is asynchronous');
    await first.obey(transactionId);
    t.same(await activation(first.deviceId), { status: 'activated', clientId: 'camera-1' });
  });

  t.test(
    'deactivated -> POST activation, at the contracted device count or without contract -> deactivated',
    async (t) => {
      const refused = { status: 403, body: { message: 'not contracted or activation limit exceeded.' } };
      await second.obey(transactionIdOf(await api.post(`${path}/devices/${second.deviceId}`, { json: {} })));
      t.match(await api.post(`${path}/devices/${third.deviceId}`, { json: {} }), refused);
      await world.admin().patch('/admin/v1/developers/dev', { json: { deviceLimit: null } });
      t.match(await api.post(`${path}/devices/${third.deviceId}`, { json: {} }), refused);
      await world.admin().patch('/admin/v1/developers/dev', { json: { deviceLimit: 3 } });
      const inUse = { status: 403, body: { message: 'ClientId is already in use.' } };
      t.match(await api.post(`${path}/devices/${third.deviceId}`, { json: { clientId: 'camera-1' } }), inUse);
      t.same(await activation(third.deviceId), { status: 'deactivated' });
    },
  );

  t.test('activated (this application) -> DELETE activation -> deactivated', async (t) => {
    const answer = await api.delete(`${path}/devices/${first.deviceId}`);
    t.equal(answer.status, 201);
    await first.obey(transactionIdOf(answer));
    t.same(await activation(first.deviceId), { status: 'deactivated' });
  });

  t.test('not activated (including already deactivated) -> DELETE activation -> unchanged', async (t) => {
    const refused = { status: 403, body: { message: 'device is not activated.' } };
    for (const { deviceId } of [first, third]) {
      t.match(await api.delete(`${path}/devices/${deviceId}`), refused);
      t.same(await activation(deviceId), { status: 'deactivated' });
    }
  });

  t.test('activated (other application) -> GET activation -> unchanged', async (t) => {
    const made = await world.admin().post('/admin/v1/developers/dev/applications', { json: { name: 'other' } });
    const other = await world.clientOf(made.body.applicationId, made.body.secret);
    const theirs = `/v1/applications/${made.body.applicationId}/devices/${second.deviceId}`;
    const refused = { status: 403, body: { message: 'device is activated in another application.' } };
    t.match(await other.get(theirs), refused);
    t.match(await activation(second.deviceId), { status: 'activated' });
  });
});
