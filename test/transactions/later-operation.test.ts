import t from 'tap';
import { onBoth } from '../database/kinds.ts';
import { startWorld } from '../world.ts';

onBoth(t, async (t, database) => {
  await t.test('a result of an operation of a later release ends its transaction', async (t) => {
    const world = await startWorld(t, { database });
    const tenant = await world.createTenant();
    const device = await world.activatedDevice(tenant);
    // A node of a later release, beside this one, has stored and sent the command.
    const raw = await world.raw();
    await raw.exec(
      `INSERT INTO transactions
         (device_id, application_id, operation, status, due, attempts, created_at, updated_at, published_at)
       VALUES ('${device.deviceId}', '${tenant.applicationId}', 'operationOfTomorrow', 'queued', 1, 1, 1, 1, 1)`,
    );
    const [{ id }] = (await raw.all(
      "SELECT MAX(transaction_id) AS id FROM transactions WHERE operation = 'operationOfTomorrow'",
    )) as [{ id: number }];
    await device.link.ack({ transactionId: Number(id), status: 'succeeded', result: { any: 'thing' } });
    const { body } = await tenant.receiver.next();
    t.match(JSON.parse(body.toString()), {
      type: 'transaction.succeeded',
      data: { transaction: { operation: 'operationOfTomorrow', result: { any: 'thing' } } },
    });
  });
});
