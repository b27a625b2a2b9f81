import t from 'tap';
import { deviceIdOf, startWorld, type Tenant, type World } from '../world.ts';

/** Registers devices that never connect, and activates them as if they had answered. */
async function absent(world: World, tenant: Tenant, first: number, count: number): Promise<void> {
  const lines = Array.from({ length: count }, (_, index) => JSON.stringify({ deviceId: deviceIdOf(first + index) }));
  await world.admin().post(`/admin/v1/developers/${tenant.developerId}/devices/import`, {
    text: `${lines.join('\n')}\n`,
    headers: { 'content-type': 'application/x-ndjson' },
  });
  const file = await world.raw();
  await file.exec(
    `UPDATE devices SET activation = 'activated', application_id = '${tenant.applicationId}', client_id = device_id
     WHERE developer_id = '${tenant.developerId}' AND activation = 'deactivated'`,
  );
  await file.exec(`INSERT INTO activated_counts VALUES ('${tenant.applicationId}', ${count})`);
}

const LANG = { operation: 'setLanguage', parameters: { lang: 'ja' }, devices: {} };

t.test('what hundreds of devices have under way is taken back and cancelled in steps', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant('dev', { deviceLimit: 1000 });
  await absent(world, tenant, 50_000, 600);

  await t.test('a rollout whose creation broke off is removed with its devices', async (t) => {
    const raw = await world.raw();
    const mend = await raw.breakWrites('INSERT ON rollout_entries');
    t.equal((await tenant.api.post(`${tenant.path}/rollouts`, { json: LANG })).status, 500);
    await mend();
    const left = async (): Promise<number> =>
      (await raw.all<{ left: number }>('SELECT COUNT(*) AS left FROM rollout_members'))[0]!.left;
    t.equal(await left(), 600);
    t.same((await tenant.api.get(`${tenant.path}/rollouts`)).body.rollouts, [], 'nobody sees it');
    world.clock.advance(15 * 60_000);
    await world.idle();
    t.equal(await left(), 0);
    t.same(await raw.all('SELECT * FROM rollouts'), []);
  });

  const { body } = await tenant.api.post(`${tenant.path}/rollouts`, { json: LANG });
  t.equal(body.devices, 600);
  const path = `${tenant.path}/rollouts/${body.rolloutId}`;
  const counts = async () => {
    await world.idle();
    return (await tenant.api.get(path)).body.counts;
  };
  t.match(await counts(), { unfinished: 600, waiting: 0 });
  await tenant.api.post(`${path}/pause`);
  t.match(await counts(), { unfinished: 0, waiting: 600 });
  await tenant.api.post(`${path}/resume`);
  t.match(await counts(), { unfinished: 600, waiting: 0 });
  await tenant.api.delete(path);
  t.match(await counts(), { unfinished: 0, cancelled: 600 });
  t.equal((await tenant.api.get(`${tenant.path}/transactions?unfinished=true`)).body.transactions.length, 0);
});

t.test('a developer with many rollouts does not delay that of another one', async (t) => {
  const world = await startWorld(t);
  const [many, one] = [
    await world.createTenant('many', { deviceLimit: 1000 }),
    await world.createTenant('one', { deviceLimit: 1000 }),
  ];
  await absent(world, many, 50_000, 200);
  await absent(world, one, 60_000, 20);
  const start = async (tenant: Tenant): Promise<string> => {
    const json = { ...LANG, startAt: '2026-11-20T09:31:00Z' };
    return (await tenant.api.post(`${tenant.path}/rollouts`, { json })).body.rolloutId;
  };
  for (let index = 0; index < 4; index += 1) await start(many);
  const rolloutId = await start(one);
  world.clock.advance(60_000);
  await world.idle();
  const numbers = async (tenant: Tenant): Promise<number[]> =>
    (await tenant.api.get(`${tenant.path}/transactions?limit=1000`)).body.transactions.map(
      ({ transactionId }: { transactionId: number }) => transactionId,
    );
  const [theirs, own] = [await numbers(many), await numbers(one)];
  t.same([theirs.length, own.length], [800, 20]);
  const before = theirs.filter((number) => number < Math.max(...own)).length;
  t.ok(before <= 2 * 64, `${before} commands of the other developer were made before the last of ${rolloutId}`);
});
