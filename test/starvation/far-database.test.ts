import t from 'tap';
import { createPresence } from '../../src/core/sessions/presence.ts';
import { openPostgres } from '../../src/platform/database/postgres/open-postgres.ts';
import { createLog } from '../../src/runtime/log.ts';
import { createFakeClock } from '../fake-clock.ts';
import { createDatabase, NO_POSTGRES } from '../postgres/databases.ts';
import { createSlowWay } from '../postgres/slow-way.ts';
import { startWorld, WIFI } from '../world.ts';

const skip = NO_POSTGRES;
/**
 * Each message to the database takes the time of the network. A unit of work that everybody waits behind must send only
 * a few, however many rows it has.
 */
const FEW = 40;

t.test('writing last-seen times takes a few messages to the database, however many devices', { skip }, async (t) => {
  const url = await createDatabase(t);
  const way = await createSlowWay(t, url, { milliseconds: 2 });
  const database = await openPostgres({ url: way.url, nowMicros: 0 });
  t.teardown(() => database.close());
  const ids = Array.from({ length: 1_000 }, (_, index) => `d${String(index).padStart(4, '0')}`);
  await database.transact(async (unit) => {
    await unit.run("INSERT INTO developers (developer_id, name, created_at) VALUES ('dev', 'x', 0)");
    for (const id of ids)
      void unit.run(
        "INSERT INTO devices (device_id, developer_id, credential_hash, activation, created_at) VALUES (?, 'dev', ?, 'activated', 0)",
        id,
        Buffer.from([0]),
      );
  });
  const clock = createFakeClock();
  const presence = createPresence({ database, clock, log: createLog({ level: 'silent' }) });
  for (const round of ['the first time', 'and each further one']) {
    for (const id of ids) presence.heard(id);
    const before = way.ways();
    clock.advance(15_000);
    while (presence.newerThanStored(ids.at(-1) ?? '') !== undefined) await database.idle();
    t.ok(way.ways() - before < FEW, `${round}: ${way.ways() - before} ways`);
  }
  t.match(await database.read.get('SELECT count(*) AS n, MIN(last_seen_at) AS at FROM device_presence'), {
    n: 1_000,
    at: clock.now() - 15_000_000,
  });
});

t.test('a deactivation with 300 queued commands takes a few messages to the database', { skip }, async (t) => {
  const way = await createSlowWay(t, await createDatabase(t), { milliseconds: 2 });
  const world = await startWorld(t, { env: { LAPEL_DATABASE_URL: way.url } });
  const tenant = await world.createTenant();
  const device = await world.activatedDevice(tenant);
  const other = await world.activatedDevice(tenant);
  await tenant.api.delete(device.path);
  const deactivate = await device.link.command();
  const put = () => tenant.api.put(`${device.path}/settings/wifi`, { json: WIFI });
  for (let round = 0; round < 6; round += 1) await Promise.all(Array.from({ length: 50 }, put));
  await world.idle();
  const before = way.ways();
  const calls = device.link.ack({ transactionId: deactivate.transactionId, status: 'succeeded' });
  const meanwhile = tenant.api.put(`${other.path}/settings/wifi`, { json: WIFI });
  t.equal((await meanwhile).status, 201);
  await calls;
  t.ok(way.ways() - before < 2 * FEW, `${way.ways() - before} ways`);
  for (let count = 0; count < 301; count += 1) await tenant.event();
});
