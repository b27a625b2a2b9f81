import t from 'tap';
import { startRollouts } from './rollout-world.ts';

t.test('a rollout whose step fails holds up no other, and goes on when it can', async (t) => {
  const { world, start, read, commands, answer } = await startRollouts(t, 2, { database: 'sqlite' });
  const ids: string[] = [];
  while (ids.length < 3) ids.push(await start({ startAt: '2026-11-20T10:00:00Z' }));
  const raw = await world.raw();
  const broken = ids[1] as string;
  const repair = await raw.breakWrites(`UPDATE ON rollouts WHEN OLD.rollout_id = '${broken}'`);
  world.clock.advance(1_800_000);
  const sent = await commands();
  for (const [deviceId, command] of sent) await answer(deviceId, command);
  const states = async () => Promise.all(ids.map(async (rolloutId) => (await read(rolloutId)).state));
  const begun = (await states()).map((state) => state !== 'scheduled');
  t.same(begun, [true, false, true], 'without any further time');
  await repair();
  world.clock.advance(1_000);
  await world.idle();
  t.equal((await read(broken)).state, 'running');
});

t.test('a result takes its own rollout further, and reads no other', async (t) => {
  const { world, tenant, start, read, commands, answer } = await startRollouts(t, 2, { database: 'sqlite' });
  const other = await start({ startAt: '2027-01-01T00:00:00Z' });
  const rolloutId = await start();
  const sent = await commands();
  const raw = await world.raw();
  await raw.exec(`UPDATE rollouts SET plan = '{' WHERE rollout_id = '${other}'`); // each read of it fails
  for (const [deviceId, command] of sent) await answer(deviceId, command);
  t.match(await read(rolloutId), { state: 'completed', counts: { succeeded: 2 } });
  t.equal((await tenant.api.get(`${tenant.path}/rollouts/${rolloutId}`)).status, 200);
});
