import { Client } from 'pg';
import t, { type Test } from 'tap';
import { deviceIdOf } from '../../bench/bench-ids.ts';
import { createReceiver } from '../../bench/closed-loop.ts';
import { fillFleet } from '../../bench/scale/million/fill.ts';
import { createNodeDriver, nodeConfig, sharedParts } from '../../bench/scale/million/node-driver.ts';
import { applicationOf } from '../../bench/scale/million/orders.ts';
import { lookAt } from '../../bench/scale/million/server-figures.ts';
import { createDatabase, NO_POSTGRES } from '../postgres/databases.ts';

const DEVICES = 40;
const APPLICATIONS = 2;

/** A filled fleet, and two of the nodes that the bench of a million devices drives. */
async function drivenFleet(t: Test) {
  const receiver = await createReceiver();
  t.teardown(() => receiver.close());
  const databaseUrl = await createDatabase(t);
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  t.teardown(() => client.end());
  const credential = 'credential of every device';
  const fleet = {
    databaseUrl,
    folder: t.testdir(),
    devices: DEVICES,
    nodes: 2,
    applications: APPLICATIONS,
    credential,
  };
  const inAll = await fillFleet(client, fleet, receiver.url);
  const drivers = [];
  for (const name of ['one', 'two']) {
    const driver = await createNodeDriver(nodeConfig(fleet, name), sharedParts());
    t.teardown(() => driver[Symbol.asyncDispose]());
    await driver.start();
    drivers.push(driver);
  }
  const [one, two] = drivers as [(typeof drivers)[0], (typeof drivers)[0]];
  const count = async (text: string, ...values: unknown[]): Promise<number> =>
    Number((await client.query<{ count: string }>(`SELECT count(*) AS count FROM ${text}`, values)).rows[0]?.count);
  return { client, count, receiver, credential, inAll, one, two };
}

t.test('nodes without sockets write what the nodes of a fleet write', { skip: NO_POSTGRES }, async (t) => {
  const { client, count, receiver, credential, inAll, one, two } = await drivenFleet(t);
  t.equal(
    await count(`devices WHERE activation = 'activated'`),
    inAll,
    'all devices are as the first, which a node made',
  );
  t.equal(await count('subscriptions'), 3 * inAll);
  t.equal(
    await count(`transactions WHERE status = 'queued'`),
    4 * (inAll - DEVICES),
    'commands wait for absent devices',
  );
  t.equal(await count(`device_owners WHERE node_id LIKE 'node_of_before_%'`), inAll - 1, 'the former nodes are dead');

  const [hers, his] = [deviceIdOf(1), deviceIdOf(2)];
  await one.login(hers, credential);
  await one.adopt([his]);
  await one.link(his);
  t.equal(one.size(), 2);
  t.equal(await count(`device_owners WHERE device_id IN ($1, $2) AND node_id NOT LIKE 'node_of%'`, hers, his), 2);

  await one.report(hers, { battery: { level: 7, charging: true } });
  t.equal(await count('device_status WHERE device_id = $1 AND battery = 7', hers), 1);

  // The command reaches the other node, which tells the node of the device.
  for (const [number, deviceId] of [hers, his].entries()) {
    const applicationId = applicationOf((number + 1) % APPLICATIONS);
    await receiver.result(await two.command(applicationId, deviceId));
  }
  await one.core.transactions.idle();
  t.equal(one.takeSettled().settled, 2);

  const { tables } = await lookAt(client, () => 0);
  t.equal(tables.has('device_owners'), true, 'the figures of tables are found');
});
