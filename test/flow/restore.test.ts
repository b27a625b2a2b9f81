import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import t from 'tap';
import { examineDatabase } from '../../src/platform/database/sqlite/examine.ts';
import { createLog } from '../../src/runtime/log.ts';
import { onBoth } from '../database/kinds.ts';
import { keepDatabaseOf } from '../kept-database.ts';
import { until } from '../until.ts';
import { startWorld, type Tenant, transactionIdOf, WIFI, type World } from '../world.ts';

/** Collects the log lines that need attention. */
function loudLog() {
  const lines: string[] = [];
  const destination = new Writable({
    write(chunk, _encoding, done) {
      lines.push(...String(chunk).split('\n').filter(Boolean));
      done();
    },
  });
  return { log: createLog({ level: 'warn', destination }), lines };
}

/** A firmware that identifies a command by its number alone: it answers a known number from memory. */
function createForgetfulDevice(world: World, device: { deviceId: string; credential: string }) {
  const answered = new Map<number, object>();
  const carriedOut: string[] = [];
  return {
    carriedOut,
    answered,
    async takeOne(): Promise<number> {
      const link = await world.connect(device);
      const { transactionId, operation, packet } = await link.command();
      link.puback(packet);
      if (!answered.has(transactionId)) carriedOut.push(operation);
      const answer = answered.get(transactionId) ?? { transactionId, status: 'succeeded' };
      answered.set(transactionId, answer);
      await link.ack(answer as Record<string, unknown>);
      await world.idle();
      await link.drop();
      return transactionId;
    },
  };
}

async function activated(world: World, tenant: Tenant) {
  const device = await world.registerDevice(tenant.developerId);
  const path = `${tenant.path}/devices/${device.deviceId}`;
  const forgetful = createForgetfulDevice(world, device);
  const answer = await tenant.api.post(path, { json: {} });
  t.equal(answer.status, 201);
  await forgetful.takeOne();
  return { ...device, path, ...forgetful };
}

onBoth(t, async (t, database) => {
  await t.test('after a restore no number is given again, so new commands are carried out', async (t) => {
    const { log, lines } = loudLog();
    const world = await startWorld(t, { database, log });
    const tenant = await world.createTenant();
    const device = await activated(world, tenant);
    t.equal((await tenant.event()).type, 'transaction.succeeded');
    t.same([...device.answered.keys()], [1], 'a new database begins at 1');
    const seen = { transactions: [1], webhooks: new Set<string>() };
    const setWifi = async (): Promise<number> => {
      const given = transactionIdOf(await tenant.api.put(`${device.path}/settings/wifi`, { json: WIFI }));
      t.equal(await device.takeOne(), given);
      const { data, headers } = await tenant.event();
      t.equal(data.transaction['transactionId'], given);
      t.notOk(seen.transactions.includes(given), 'the transactionId is new');
      t.ok(given > Math.max(...seen.transactions) && Number.isSafeInteger(given), 'and higher than all before');
      t.notOk(seen.webhooks.has(String(headers['webhook-id'])), 'and so is the deliveryId');
      seen.transactions.push(given);
      seen.webhooks.add(String(headers['webhook-id']));
      return given;
    };
    await setWifi();
    let setBack = async (): Promise<void> => undefined;
    await world.restart(async () => {
      setBack = await keepDatabaseOf(t, world);
    });
    await tenant.renew();
    const lost = [await setWifi(), await setWifi()];
    t.equal(lost[1], (lost[0] as number) + 1, 'within a life they are counted');
    world.clock.advance(60_000);
    await world.restart(setBack);
    await tenant.renew();
    t.equal(
      (await tenant.api.get(`${device.path}/transactions/${lost[0]}`)).status,
      404,
      'what came after the backup is lost',
    );
    await setWifi();
    t.same(device.carriedOut, ['activate', ...Array(4).fill('setWifi')], 'the device has done each of them');

    const listed = await world.admin().get('/admin/v1/transactions');
    const ids = listed.body.transactions.map(({ transactionId }: { transactionId: number }) => transactionId);
    t.same(ids, [seen.transactions.at(-1), 2, 1], 'the list of all passes over the gap');
    t.equal(listed.headers['link'], undefined, 'at once');
    const found = await world.admin().get(`/admin/v1/search?q=${seen.transactions.at(-1)}`);
    t.match(found.body.results, [{ kind: 'transaction', id: String(seen.transactions.at(-1)) }]);

    const link = await world.connect(device);
    link.publish('acks', { transactionId: lost[1], status: 'succeeded' });
    t.match(
      JSON.parse(String((await link.next('publish')).payload)),
      {
        reason: 'transaction not found.',
        transactionId: lost[1],
      },
      'a late result of a command that is lost is told so',
    );

    await world.idle();
    const { entries } = (await world.admin().get('/admin/v1/audit?actor=service')).body;
    const last = database === 'sqlite' ? 'other_file' : 'other_database';
    t.match(entries, [{ action: 'RAISE /numbers', actor: { kind: 'service', name: null }, details: { reason: last } }]);
    t.ok(
      lines.some((line) => line.includes('restored')),
      'it is in the log, as an error',
    );
    const metrics = (await world.anonymousAdmin().get('/metrics')).body;
    t.match(metrics, new RegExp(`lapel_numbers_raised_total\\{reason="${last}"\\} 1`));
  });

  await t.test('a database that is replaced while the service runs is noticed', async (t) => {
    if (database === 'sqlite') return t.pass('the folder is locked as long as it runs');
    const { log, lines } = loudLog();
    const world = await startWorld(t, { database, log });
    const tenant = await world.createTenant();
    const device = await activated(world, tenant);
    await tenant.event();
    let setBack = async (): Promise<void> => undefined;
    await world.restart(async () => {
      setBack = await keepDatabaseOf(t, world);
    });
    await tenant.renew();
    const put = () => tenant.api.put(`${device.path}/settings/wifi`, { json: WIFI });
    const lost = transactionIdOf(await put());
    const link = await world.connect(device);
    t.equal((await link.command()).transactionId, lost);
    await setBack();
    await link.closed;
    t.pass('devices are disconnected: what they were told may be lost');
    let answer = await put();
    while (answer.status === 503) answer = await put();
    t.equal(answer.status, 201);
    const given = transactionIdOf(answer);
    t.ok(given > lost + 1, 'the numbers were raised');
    await until(() => lines.some((line) => line.includes('this node has a lease again')));
    t.equal(await device.takeOne(), given, 'the device gets what is due once more');
    t.same(device.carriedOut, ['activate', 'setWifi']);
    t.ok(lines.some((line) => line.includes('other_database')));
  });
});

t.test('a copy of the data folder is reported at its start and by lapel doctor, and uses other numbers', async (t) => {
  const folders = t.testdir({ original: {}, copy: {} });
  const world = await startWorld(t, { database: 'sqlite', dataDir: join(folders, 'original') });
  const tenant = await world.createTenant();
  const device = await world.activatedDevice(tenant);
  const copy = join(folders, 'copy');
  await world.restart(() => {
    t.same(examineDatabase(world.dataDir, { whole: false }).notes, []);
    cpSync(world.dataDir, copy, { recursive: true });
  });
  await tenant.renew();
  t.match(examineDatabase(copy, { whole: false }).notes, [/is a copy/]);
  world.clock.advance(1000);
  const { log, lines } = loudLog();
  const other = await startWorld(t, { database: 'sqlite', dataDir: copy, clock: world.clock, log });
  t.match(lines, [/"reason":"copied_folder".*this data folder is a copy/]);
  const api = await other.clientOf(tenant.applicationId, tenant.secret);
  const put = (by: typeof api) => by.put(`${device.path}/settings/wifi`, { json: WIFI });
  const given = [await put(tenant.api), await put(api), await put(tenant.api), await put(api)].map(transactionIdOf);
  t.equal(new Set(given).size, 4);
});
