import t from 'tap';
import { startWorld, transactionIdOf, WIFI } from '../world.ts';

const MAC = 'AA:BB:CC:DD:EE:FF';

t.test('a device whose firmware is too old for Bluetooth operations', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const { api } = tenant;
  const device = await world.activatedDevice(tenant);
  const { link } = device;
  const report = async (body: object) => {
    link.publish('status', body);
    await link.next('puback');
  };
  const read = async (id: number) => (await api.get(`${device.path}/transactions/${id}`)).body;
  const ask = async () => transactionIdOf(await api.get(`${device.path}/connectivity/list?type=bluetooth`));
  const take = async (transactionId: number) => {
    const command = await link.command();
    t.equal(command.transactionId, transactionId);
    link.puback(command.packet);
  };

  t.test('gets no warning before it has reported its versions', async (t) => {
    const id = await ask();
    t.match(await read(id), { warning: null });
    await take(id);
    await link.ack({ transactionId: id, status: 'succeeded', result: { type: 'bluetooth', devices: [] } });
    t.equal((await tenant.event()).type, 'transaction.succeeded');
  });

  t.test('is asked nevertheless, ignores the command, and later commands are not delayed', async (t) => {
    await report({ firmwareVersion: '9.000.4', managementClientVersion: '2.3.1' });
    const warning = { code: 'FIRMWARE_TOO_OLD', message: /firmware 9\.000\.4;/ };
    const unanswered = await ask();
    await take(unanswered);
    // More than may be in flight without an answer: if the unanswered command blocked the others, they would not all
    // arrive.
    for (let i = 0; i < 20; i += 1) {
      const id = transactionIdOf(await api.put(`${device.path}/settings/wifi`, { json: WIFI }));
      await take(id);
      await link.ack({ transactionId: id, status: 'succeeded' });
      t.match((await tenant.event()).data.transaction, { transactionId: id, status: 'succeeded' });
      t.match(await read(id), { status: 'succeeded', warning: null });
    }
    await world.idle();
    t.match(await read(unanswered), { status: 'delivered', completedAt: null, warning });
    const { transactions } = (await api.get(`${device.path}/transactions?limit=2`)).body;
    t.match(transactions, [{ warning: null }, { warning: null }]);
    const unfinished = (await api.get(`${device.path}/transactions?status=delivered`)).body;
    t.match(unfinished, { total: 1, transactions: [{ transactionId: unanswered, warning }] });

    t.equal((await api.delete(`${device.path}/transactions/${unanswered}`)).status, 204);
    t.match(await link.command(), { operation: 'cancel', transactionId: unanswered });
    const { type, data } = await tenant.event();
    t.equal(type, 'transaction.cancelled');
    t.match(data.transaction, { transactionId: unanswered, warning: undefined });
    t.match(await read(unanswered), { status: 'cancelled', warning: null });
  });

  t.test('gets a warning also for its management client, and none after an update', async (t) => {
    await report({ firmwareVersion: '9.001.0', managementClientVersion: '2.3.0' });
    const id = transactionIdOf(await api.post(`${device.path}/bluetooth/devices`, { json: { macAddress: MAC } }));
    t.match(await read(id), { warning: { message: /management client 2\.3\.0;/ } });
    await report({ managementClientVersion: '2.3.1' });
    t.match(await read(id), { warning: null });
    await take(id);
    await link.ack({ transactionId: id, status: 'succeeded', result: { name: null, macAddress: MAC } });
    t.match((await tenant.event()).data.transaction, { transactionId: id, status: 'succeeded' });
  });
});
