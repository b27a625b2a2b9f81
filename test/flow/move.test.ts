import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import t from 'tap';
import { startSoftware } from '../api/software-world.ts';
import { createEmptyDatabase, NO_POSTGRES as skip } from '../postgres/databases.ts';
import { startWorld, transactionIdOf, WIFI, type World } from '../world.ts';
import { runMain } from './service-process.ts';

t.test('everything moves from SQLite to PostgreSQL and back', { skip }, async (t) => {
  const { world, tenant, register, upload } = await startSoftware(t, { database: 'sqlite' });
  const { clock, dataDir } = world;
  const device = await world.activatedDevice(tenant);
  await register('com.example.moved', '1.0.0');
  await upload('com.example.moved', '1.0.0');
  await tenant.api.patch(`${device.path}/tags`, { json: { site: 'osaka' } });
  await device.link.drop();
  const text = 'é " \\ \t 日本 🎥';
  const setWifi = async (api = tenant.api): Promise<number> =>
    transactionIdOf(await api.put(`${device.path}/settings/wifi`, { json: [{ ...WIFI[0], ssid: 'ü🎥' }] }));
  await tenant.api.post(`${tenant.path}/rollouts`, {
    json: {
      label: text,
      operation: 'setLanguage',
      parameters: { lang: 'ja' },
      devices: {},
      startAt: '2030-01-01T00:00:00Z',
    },
  });
  const first = await setWifi();
  await world.idle();
  const url = await createEmptyDatabase(t);
  const move = (to: string, folder = dataDir) =>
    runMain(t, ['move', '--to', to, '--data-dir', folder, '--database-url', url]);

  t.match(await move('postgres'), { code: 78, stderr: /is in use by another process/ }, 'the service must be stopped');
  await world.service[Symbol.asyncDispose]();
  const moved = await move('postgres');
  t.match(moved, { code: 0, stderr: '', stdout: /^transactions +2 rows +[0-9a-f]{32}$/m });
  t.match(await move('postgres'), { code: 1, stderr: /has rows already \(in \w+\): a move needs an empty database/ });

  /** The unfinished commands come with their old numbers, and new ones get higher numbers. */
  async function goesOn(next: World, waiting: number): Promise<number> {
    const api = await next.clientOf(tenant.applicationId, tenant.secret);
    t.same((await api.get(`${device.path}/tags`)).body, { site: 'osaka' });
    t.match((await api.get(`${tenant.path}/rollouts`)).body.rollouts, [{ label: text, state: 'scheduled' }]);
    const link = await next.connect(device);
    const command = await link.command();
    t.equal(command.transactionId, waiting);
    t.match(JSON.stringify(command.parameters), /"ssid":"ü🎥"/);
    await link.ack({ transactionId: waiting, status: 'succeeded' });
    t.equal((await tenant.event()).data.transaction['transactionId'], waiting);
    await link.drop();
    const made = await setWifi(api);
    t.ok(made > waiting, 'no number comes again');
    await next.idle();
    return made;
  }

  clock.advance(60_000);
  const env = { LAPEL_DATABASE_URL: url };
  const onServer = await startWorld(t, { dataDir: join(dataDir, 'node'), database: 'postgres', clock, env });
  const second = await goesOn(onServer, first);
  const back = join(dataDir, 'back');
  t.match(await move('sqlite', back), { code: 1, stderr: /stop the service first: \S+ uses the database/ });
  await onServer.service[Symbol.asyncDispose]();
  t.match(await move('sqlite', back), { code: 0, stderr: '' });
  t.match(await move('sqlite', back), { code: 1, stderr: /has a database already, and nothing is overwritten/ });

  clock.advance(60_000);
  await goesOn(await startWorld(t, { dataDir: back, database: 'sqlite', clock }), second);
  const raw = new Sqlite(join(back, 'lapel.db'), { readonly: true });
  t.same(raw.pragma('integrity_check'), [{ integrity_check: 'ok' }]);
  raw.close();
});

t.test('a move says which option is missing', async (t) => {
  t.match(await runMain(t, ['move', '--to', 'sqlite']), { code: 2, stderr: /--database-url/ });
  t.match(await runMain(t, ['move']), { code: 2, stderr: /--to/ });
});
