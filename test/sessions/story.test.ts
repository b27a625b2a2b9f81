import { copyFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DomainError } from '@lapel/schemas/contracts/errors';
import Sqlite from 'better-sqlite3';
import t from 'tap';
import { createConnectionLog, KEPT_PER_HOUR } from '../../src/core/sessions/connection-log.ts';
import { insertFact, listCutConnections, listFacts } from '../../src/core/sessions/connection-log-repository.ts';
import { connectionSweep } from '../../src/core/sessions/connection-sweep.ts';
import { createNodeLives } from '../../src/core/sessions/node-lives.ts';
import { createMetrics } from '../../src/metrics.ts';
import { idsFrom, randomIds } from '../../src/runtime/ids.ts';
import { createLog } from '../../src/runtime/log.ts';
import { openTestDatabase } from '../applications/tenant.ts';
import { pagesOf } from '../pages.ts';
import { usualDatabase } from '../postgres/databases.ts';
import type { RawDevice } from '../raw-device.ts';
import { until } from '../until.ts';
import { deviceIdOf, startWorld, WIFI, type World } from '../world.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
/** Milliseconds after which facts about connections are stored. */
const GATHERED = 1_000;

interface Entry {
  at: string;
  kind: string;
  connection?: { reason: string | null; detail: string | null; count: number; since: string | null; address: string };
  command?: { operation: string; status: string; error: { code: string } | null };
  event?: { type: string };
  change?: { action: string; actor: { kind: string } };
}

async function settled(world: World): Promise<void> {
  world.clock.advance(GATHERED);
  await world.idle();
}

/** Ends a connection without DISCONNECT; resolves when the service has noticed. */
async function drop(world: World, deviceId: string, link: RawDevice): Promise<void> {
  await link.drop();
  await until(() => !world.service.isConnected(deviceId));
}

async function storyOf(world: World, deviceId: string, query = 'limit=100'): Promise<Entry[]> {
  await settled(world);
  const pages = await pagesOf<Entry>(world.admin(), `/admin/v1/devices/${deviceId}/story?${query}`, 'entries');
  return pages.flat();
}

/** An entry in a word or two. */
function inShort({ kind, connection, command, event, change }: Entry): string {
  if (command) return `${command.operation} ${command.error?.code ?? command.status}`;
  if (event) return event.type;
  if (change) return change.action;
  return connection?.reason ? `${kind} ${connection.reason}` : kind;
}

t.test('facts about connections that cannot be stored are stored later', async (t) => {
  const world = await startWorld(t);
  await world.createTenant();
  const device = await world.registerDevice();
  const raw = await world.raw();
  const mend = await raw.breakWrites('INSERT ON connection_log');
  await world.connect(device);
  await settled(world);
  t.same(await raw.all('SELECT kind FROM connection_log'), []);
  await mend();
  world.clock.advance(MINUTE);
  t.match((await storyOf(world, device.deviceId)).map(inShort), ['connected']);
});

t.test('the story of a device', async (t) => {
  const world = await startWorld(t);
  const { clock } = world;
  const tenant = await world.createTenant();
  const admin = world.admin();

  await t.test('has its connections, refused logins, commands, events and changes, newest first', async (t) => {
    const begun = new Date(clock.now() / 1000).toISOString();
    const device = await world.activatedDevice(tenant);
    const { deviceId, credential, link, path } = device;
    const past = () => clock.advance(MINUTE);
    past();
    link.publish('events', { eventId: 'e1', type: 'custom.sos', occurredAt: begun, data: {} });
    await link.next('puback');
    await tenant.event();
    past();
    await tenant.api.put(`${path}/settings/wifi`, { json: WIFI });
    const command = await link.command();
    link.puback(command.packet);
    await link.ack({
      transactionId: command.transactionId,
      status: 'failed',
      error: { code: 'WIFI_REFUSED', message: '' },
    });
    await tenant.event();
    past();
    link.send({ cmd: 'disconnect' });
    await link.closed;
    past();
    const wrong = await world.open({ deviceId, credential: 'wrong' });
    t.equal((await wrong.login()).returnCode, 4);
    past();
    await admin.patch(`/admin/v1/devices/${deviceId}`, { json: { blocked: true } });
    past();
    const blocked = await world.open({ deviceId, credential });
    t.equal((await blocked.login()).returnCode, 5);

    const story = await storyOf(world, deviceId);
    const expected = [
      'refused blocked',
      'PATCH /admin/v1/devices/{deviceId}',
      'refused credentials',
      'ended disconnected',
      'setWifi WIFI_REFUSED',
      'custom.sos',
    ];
    t.same(story.map(inShort).slice(0, expected.length), expected);
    t.same(story.map(inShort).slice(expected.length).sort(), [
      'POST /admin/v1/developers/{developerId}/devices',
      'activate succeeded',
      'connected',
    ]);
    t.same(
      story
        .map(({ at }) => at)
        .toSorted()
        .toReversed(),
      story.map(({ at }) => at),
      'in the order of time',
    );
    const end = story.find(({ kind }) => kind === 'ended');
    const middle = end?.at ?? '';
    t.equal(end?.connection?.since, story.find(({ kind }) => kind === 'connected')?.at, 'an end names its connection');
    t.equal(story[0]?.connection?.address, '127.0.0.1', 'a refused login names the address');

    await t.test('pages of any length have the same entries, each once', async (t) => {
      for (const limit of [1, 2, 5]) t.same(await storyOf(world, deviceId, `limit=${limit}`), story);
      for (const place of ['~~x~~', '~~~~x', '~x~~~', '~~~'])
        t.equal((await admin.get(`/admin/v1/devices/${deviceId}/story?after=${place}`)).status, 400, place);
    });
    await t.test('a period has its entries', async (t) => {
      const [before, after] = [story.filter(({ at }) => at < middle), story.filter(({ at }) => at >= middle)];
      t.ok(before.length > 0 && after.length > 0);
      t.same(await storyOf(world, deviceId, `until=${middle}&limit=2`), before);
      t.same(await storyOf(world, deviceId, `since=${middle}&limit=2`), after);
    });
  });

  await t.test('says why a connection ended', async (t) => {
    const device = await world.registerDevice();
    const reasons: string[] = [];
    const ended = async (): Promise<void> => {
      let ends: Entry[] = [];
      await until(async () => {
        ends = (await storyOf(world, device.deviceId)).filter(({ kind }) => kind === 'ended');
        return ends.length > reasons.length;
      });
      const [end] = ends;
      reasons.push(`${end?.connection?.reason}${end?.connection?.detail ? `: ${end.connection.detail}` : ''}`);
      clock.advance(MINUTE);
    };
    let link = await world.connect(device);
    await drop(world, device.deviceId, link);
    await ended();
    link = await world.connect(device);
    link.send({ cmd: 'connect', protocolId: 'MQTT', protocolVersion: 4, clientId: 'x', keepalive: 0, clean: true });
    await link.closed;
    await ended();
    link = await world.connect(device);
    const newer = await world.connect(device);
    await link.closed;
    await ended();
    await admin.delete(`/admin/v1/devices/${device.deviceId}/connection`);
    await newer.closed;
    await ended();
    const cluster = usualDatabase === 'postgres';
    t.same(reasons, [
      'lost',
      'protocol: [MQTT-3.1.0-2] a second CONNECT',
      cluster ? reasons[2] : 'replaced',
      cluster ? 'elsewhere' : 'revoked',
    ]);
    t.match(reasons[2], /^(replaced|elsewhere)$/);
  });

  await t.test(
    'a connection that flaps, and a stranger who guesses, have a bounded number of rows an hour',
    async (t) => {
      const device = await world.registerDevice();
      const rounds = KEPT_PER_HOUR + 5;
      for (let round = 0; round < rounds; round += 1) {
        const link = await world.connect(device);
        await link.drop();
        const guess = await world.open({ deviceId: device.deviceId, credential: 'guess' });
        await guess.login();
        if (round % 2 === 0) await settled(world);
      }
      const story = await storyOf(world, device.deviceId);
      for (const kind of ['connected', 'ended', 'refused']) {
        const rows = story.filter((entry) => entry.kind === kind);
        t.equal(rows.length, KEPT_PER_HOUR, `rows of ${kind}`);
        t.equal(
          rows.reduce((sum, { connection }) => sum + (connection?.count ?? 0), 0),
          rounds,
          'all are counted',
        );
      }
      clock.advance(HOUR);
      await drop(world, device.deviceId, await world.connect(device));
      t.match((await storyOf(world, device.deviceId)).slice(0, 1), [{ kind: 'ended', connection: { count: 1 } }]);
    },
  );

  await t.test('an identifier that is not registered leaves nothing', async (t) => {
    const stranger = await world.open({ deviceId: deviceIdOf(999_999), credential: 'guess' });
    await stranger.login();
    await settled(world);
    const file = await world.raw();
    t.same(await file.all(`SELECT * FROM connection_log WHERE device_id = '${deviceIdOf(999_999)}'`), []);
  });

  await t.test('a device that is deleted takes its story with it', async (t) => {
    const { deviceId, credential } = await world.registerDevice();
    const link = await world.connect({ deviceId, credential });
    await settled(world);
    await admin.delete(`/admin/v1/devices/${deviceId}`);
    await link.closed;
    await settled(world);
    const file = await world.raw();
    t.same(await file.all(`SELECT * FROM connection_log WHERE device_id = '${deviceId}'`), []);
    t.equal((await admin.get(`/admin/v1/devices/${deviceId}/story`)).status, 404);
  });
});

t.test('a process that stops, or is gone, ends the connections of its devices', async (t) => {
  const world = await startWorld(t);
  await world.createTenant();
  const device = await world.registerDevice();
  world.clock.advance(MINUTE);
  await world.connect(device);
  await settled(world);
  const copy = join(world.dataDir, 'copy.db');
  const isFile = world.databaseUrl === null;
  if (isFile) {
    const file = new Sqlite(join(world.dataDir, 'lapel.db'));
    file.prepare('VACUUM INTO ?').run(copy);
    file.close();
  }
  world.clock.advance(MINUTE);
  await world.restart();
  t.same((await storyOf(world, device.deviceId, 'limit=1')).map(inShort), [
    'ended node_stopped',
    'connected',
    'POST /admin/v1/developers/{developerId}/devices',
  ]);
  world.clock.advance(MINUTE);
  const again = await world.connect(device);
  again.publish('status', { lang: 'de' });
  await again.next('puback');
  const [newest] = await storyOf(world, device.deviceId);
  t.equal(newest?.kind, 'connected', 'the new connection is not taken for the one before');

  if (!isFile) return;
  world.clock.advance(MINUTE);
  await world.restart(() => {
    for (const end of ['-wal', '-shm']) rmSync(join(world.dataDir, `lapel.db${end}`), { force: true });
    copyFileSync(copy, join(world.dataDir, 'lapel.db'));
  });
  t.same(
    (await storyOf(world, device.deviceId)).map(inShort).slice(0, 2),
    ['ended node_lost', 'connected'],
    'a restored database knows a connection that has no end: it ended at the latest with this start',
  );
});

t.test('refused logins of strangers leave room for connections of devices', async (t) => {
  const { database, clock } = openTestDatabase(t);
  const metrics = createMetrics();
  const log = createLog({ level: 'silent' });
  const facts = createConnectionLog({ database, clock, ids: randomIds, log, metrics, nodeId: () => '' });
  const lost = async (): Promise<number | undefined> => (await metrics.connectionFactsLost.get()).values[0]?.value;
  const from = { address: '192.0.2.1', transport: 'mqtts' };
  for (let stranger = 0; stranger < 25_001; stranger += 1) facts.refused(`s${stranger}`, 'credentials', from);
  t.equal(await lost(), 1);
  facts.connected('device', from);
  t.equal(await lost(), 1);
});

t.test('facts about connections outlast a database that is away, and a stop', async (t) => {
  const { database, clock } = openTestDatabase(t);
  const log = createLog({ level: 'silent' });
  let isAway = true;
  const transact: typeof database.transact = async (work, options) => {
    if (isAway && options?.pace === 'soon') throw new DomainError('DATABASE_UNAVAILABLE');
    return database.transact(work, options);
  };
  const given = { clock, ids: randomIds, log, metrics: createMetrics(), nodeId: () => '' };
  const facts = createConnectionLog({ ...given, database: { ...database, transact } });
  await database.transact(async (unit) => {
    await unit.run("INSERT INTO developers (developer_id, name, created_at) VALUES ('x', 'x', 0)");
    await unit.run(
      `INSERT INTO devices (device_id, developer_id, credential_hash, activation, created_at) VALUES ('d', 'x', '', 'deactivated', 0)`,
    );
  });
  const stored = async (): Promise<string[]> => {
    clock.advance(15_000);
    await facts.idle();
    const rows = await listFacts(database.read, 'd', { since: 0, until: 1e17, from: '', before: 'z', limit: 9 });
    return rows.map(({ kind, isOpen }) => `${kind} ${isOpen}`);
  };
  const from = { address: '192.0.2.1', transport: 'mqtts' };
  const first = facts.connected('d', from);
  t.same(await stored(), []);
  const second = facts.connected('d', from);
  facts.ended('d', first, 'lost');
  t.same(await stored(), []);
  isAway = false;
  t.same(await stored(), ['ended 0', 'connected 1', 'connected 0']);
  isAway = true;
  facts.ended('d', second, 'lost');
  t.same(await stored(), ['ended 0', 'connected 1', 'connected 0']);
  isAway = false;
  t.same(await stored(), ['ended 0', 'ended 0', 'connected 0', 'connected 0'], 'also that a connection has ended');
  facts.refused('d', 'credentials', from);
  await facts[Symbol.asyncDispose]();
  t.equal((await stored())[0], 'refused 0', 'a stop stores the last ones');

  await t.test('a process that ended is known as long as the ends of its connections are', async (t) => {
    const lives = async (): Promise<number> => {
      const life = createNodeLives({ database, clock, ids: randomIds, log, cluster: undefined, keptDays: 30 });
      await life.start();
      await life[Symbol.asyncDispose]();
      return (await database.read.all('SELECT node_id FROM node_lives')).length;
    };
    await lives();
    t.equal(await lives(), 2);
    clock.advance(31 * 24 * HOUR);
    t.equal(await lives(), 1);
  });
});

t.test('facts about connections are removed after their time', async (t) => {
  const { database } = openTestDatabase(t);
  const nothing = { reason: null, detail: null, address: null, transport: null, nodeId: null, since: null, isOpen: 0 };
  await database.transact(async (unit) => {
    for (const deviceId of ['a', 'b'])
      for (const day of [1, 2, 3, 40]) {
        const at = day * 86_400_000_000;
        const fact = {
          deviceId,
          factId: `${idsFrom('con', at)}00`,
          kind: 'connected',
          at,
          lastAt: at,
          count: 1,
        } as const;
        await insertFact(unit, { ...fact, ...nothing });
      }
  });
  const sweep = connectionSweep({ keptDays: 30 });
  t.equal(await sweep.oldestAt(database.aside), 86_400_000_000);
  let removed = 0;
  for await (const { found } of sweep.find(database.aside, 30 * 86_400_000_000))
    for (const one of found) removed += await database.transact((unit) => sweep.remove(unit, one, 0));
  t.equal(removed, 6);
  t.equal(await sweep.oldestAt(database.aside), 40 * 86_400_000_000);

  await t.test('of many connections that ended with their process, the last are read', async (t) => {
    await database.transact(async (unit) => {
      for (const at of [1, 2, 3]) {
        const fact = { deviceId: 'c', factId: `con_${at}`, kind: 'connected', at, lastAt: at, count: 1 } as const;
        await insertFact(unit, { ...fact, ...nothing, isOpen: 1, nodeId: `n${at}` });
        await unit.run(`INSERT INTO node_lives (node_id, begun_at, ended_at) VALUES (?, 0, ?)`, `n${at}`, at + 1);
      }
    });
    const found = await listCutConnections(database.aside, 'c', 2);
    t.same(found.map(({ factId }) => factId).sort(), ['con_2', 'con_3']);
  });
});
