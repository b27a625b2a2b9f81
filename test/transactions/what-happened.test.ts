import t from 'tap';
import { risingIds } from '../rising-ids.ts';
import { startWorld, transactionIdOf, WIFI } from '../world.ts';

t.test('a transaction keeps its publish time, its subject and its webhook', async (t) => {
  const world = await startWorld(t, { ids: risingIds() });
  const tenant = await world.createTenant();
  const device = await world.activatedDevice(tenant);
  const { api } = tenant;
  const database = await world.raw();
  const rowOf = async (transactionId: number) => {
    const [row] = await database.all<Record<string, unknown>>(
      `SELECT published_at, delivered_at, subject, delivery_id, parameters FROM transactions WHERE transaction_id = ?`,
      transactionId,
    );
    return row ?? {};
  };
  const finish = async (transactionId: number) => {
    await device.link.ack({ transactionId, status: 'succeeded' });
    return (await tenant.event()).headers['webhook-id'];
  };

  await t.test('a command for a connected device is published when it is stored', async (t) => {
    const now = world.clock.now();
    const made = transactionIdOf(await api.put(`${device.path}/settings/wifi`, { json: WIFI }));
    t.match(await rowOf(made), { published_at: now, subject: '1 network', delivery_id: null });
    await device.link.command();
    world.clock.advance(5000);
    const webhook = await finish(made);
    t.match(await rowOf(made), { published_at: now, subject: '1 network', delivery_id: webhook, parameters: null });
  });

  await t.test(
    'a waiting command has its publish time from the device’s first connection, not from later ones',
    async (t) => {
      await device.link.drop();
      const made = transactionIdOf(await api.put(`${device.path}/settings/lang`, { json: { lang: 'ja-JP' } }));
      t.match(await rowOf(made), { published_at: null, subject: 'ja-JP' });
      world.clock.advance(60_000);
      const now = world.clock.now();
      device.link = await world.connect(device);
      await device.link.command();
      t.match(await rowOf(made), { published_at: now });
      await device.link.drop();
      world.clock.advance(60_000);
      device.link = await world.connect(device);
      t.match(await device.link.command(), { attempt: 2 });
      t.match(await rowOf(made), { published_at: now });
      await finish(made);
    },
  );

  await t.test('a command that is cancelled before its publish has no publish time', async (t) => {
    await device.link.drop();
    const apns = ['one', 'two'].map((name) => ({ name, apn: 'secret.example', mcc: '440', mnc: '10' }));
    const made = transactionIdOf(await api.put(`${device.path}/settings/apn`, { json: apns }));
    t.match(await rowOf(made), { subject: 'one, two' });
    await api.delete(`${device.path}/transactions/${made}`);
    const webhook = (await tenant.event()).headers['webhook-id'];
    t.match(await rowOf(made), { published_at: null, delivery_id: webhook });
    device.link = await world.connect(device);
  });

  await t.test(
    'each transaction that a deactivation cancels has its own webhook, before that of the deactivation',
    async (t) => {
      const other = transactionIdOf(await api.put(`${device.path}/settings/wifi`, { json: WIFI }));
      await device.link.command();
      const last = transactionIdOf(await api.delete(device.path));
      await device.link.command();
      await device.link.ack({ transactionId: last, status: 'succeeded' });
      const events = [await tenant.event(), await tenant.event()];
      t.match(events.map(({ type }) => type).sort(), ['transaction.cancelled', 'transaction.succeeded']);
      const idOf = (type: string) => events.find((event) => event.type === type)?.headers['webhook-id'];
      t.match(await rowOf(other), { delivery_id: idOf('transaction.cancelled') });
      t.match(await rowOf(last), { delivery_id: idOf('transaction.succeeded'), subject: null });
      t.ok(String(idOf('transaction.cancelled')) < String(idOf('transaction.succeeded')));
    },
  );
});
