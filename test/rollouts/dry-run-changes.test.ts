import t from 'tap';
import { run } from '../cli/run.ts';
import { startRollouts } from './rollout-world.ts';

type World = Awaited<ReturnType<typeof startRollouts>>;

const envOf = ({ tenant, world }: World) => ({
  LAPEL_APPLICATION: tenant.applicationId,
  LAPEL_APPLICATION_SECRET: tenant.secret,
  LAPEL_URL: world.service.addresses.http,
  NO_COLOR: '1',
});

/** A rollout in which each second device has failed. */
async function halfFailed(all: World, more: object): Promise<string> {
  const rolloutId = await all.start(more);
  let turn = 0;
  for (const [deviceId, command] of await all.commands())
    await all.answer(deviceId, command, turn++ % 2 === 0 ? 'REFUSED' : undefined);
  return rolloutId;
}

t.test('a dry run of a retry counts the devices that would wait, and changes nothing', async (t) => {
  const all = await startRollouts(t, 6);
  const { act, read, commands, tenant } = all;
  const rolloutId = await halfFailed(all, {});
  const before = await read(rolloutId);
  t.match(before, { state: 'completed', counts: { failed: 3, succeeded: 3 } });
  t.match(await act(rolloutId, 'retry-failed', { dryRun: true }), { status: 200, body: { devices: 3 } });
  t.match(await act(rolloutId, 'retry-failed', { dryRun: true, code: 'OTHER' }), { body: { devices: 0 } });
  t.same(await read(rolloutId), before);
  const command = await run(['rollout', 'retry', rolloutId, '--dry-run'], { env: envOf(all) });
  t.match(command, { code: 0, stdout: `3 devices of ${rolloutId} would wait for another command\n` });
  t.equal((await commands()).size, 0);
  t.match(JSON.stringify((await tenant.api.get(`${tenant.path}/audit`)).body), '"dryRun":true');

  t.match(await act(rolloutId, 'retry-failed'), { status: 200, body: { devices: 3 } });
  await commands();
  await tenant.api.delete(`${tenant.path}/rollouts/${rolloutId}`);
  t.match(await act(rolloutId, 'retry-failed', { dryRun: true }), { status: 409 }, 'refused as the retry would be');
});

t.test('a dry run of a retry does not count a device that a newer rollout has commanded', async (t) => {
  const all = await startRollouts(t, 4);
  const rolloutId = await halfFailed(all, { parameters: { lang: 'ja' } });
  const failed = await all.members(rolloutId, 'state=failed');
  all.world.clock.advance(1_000);
  await all.start({ parameters: { lang: 'de' }, devices: { devices: [failed[0]!.deviceId] } });
  await all.commands();
  t.match(await all.act(rolloutId, 'retry-failed', { dryRun: true }), { body: { devices: 1 } });
  t.match(await all.act(rolloutId, 'retry-failed'), { body: { devices: 1 } });
});

t.test('a dry run of a revert says what it would be, and makes nothing', async (t) => {
  const all = await startRollouts(t, 3);
  const { tenant, devices, act, read, commands, answer, start, world } = all;
  let rolloutId = '';
  for (const [lang, some] of [
    ['de', devices.slice(1)],
    ['fr', devices],
  ] as const) {
    world.clock.advance(1_000);
    rolloutId = await start({ parameters: { lang }, devices: { devices: some.map(({ deviceId }) => deviceId) } });
    for (const [deviceId, command] of await commands()) await answer(deviceId, command);
  }
  const list = async () => (await tenant.api.get(`${tenant.path}/rollouts`)).body.rollouts;
  const before = await read(rolloutId);
  const rows = await list();
  const found = await act(rolloutId, 'revert', { dryRun: true, stages: [{ count: 1 }] });
  t.match(found, { status: 200 });
  t.same(found.body, {
    devices: 3,
    connected: 3,
    stages: [1, 2],
    leftOut: [{ code: 'FORMER_UNKNOWN', devices: 1 }],
    cancels: false,
    version: null,
  });
  const command = await run(['rollout', 'revert', rolloutId, '--dry-run'], { env: envOf(all) });
  t.match(command, { code: 0 });
  t.match(command.stdout, `2 devices of ${rolloutId} would be brought back to their former settings`);
  t.match(command.stdout, '1 device cannot be brought back');
  t.same(await list(), rows);
  t.same(await read(rolloutId), before);

  t.match(await act(rolloutId, 'revert', { dryRun: true, version: '1.0.0' }), { status: 400 });
  t.match(await act(rolloutId, 'revert'), { status: 201, body: { devices: 3, leftOut: found.body.leftOut } });
  await world.idle();
  t.match(await act(rolloutId, 'revert', { dryRun: true }), { status: 409 }, 'refused as the revert would be');
});

t.test('a dry run of a revert says that the rollout would be cancelled', async (t) => {
  const { devices, start, commands, answer, act, read } = await startRollouts(t, 3);
  await start({ parameters: { lang: 'de' } });
  for (const [deviceId, command] of await commands()) await answer(deviceId, command);
  const rolloutId = await start({ parameters: { lang: 'fr' }, stages: [{ count: 1, approval: true }] });
  for (const [deviceId, command] of await commands()) await answer(deviceId, command);
  t.match(await act(rolloutId, 'revert', { dryRun: true }), { status: 200, body: { devices: 1, cancels: true } });
  t.match(await read(rolloutId), { state: 'running', devices: devices.length });
});

t.test('a dry run of tags counts the devices that would change, and those that would not', async (t) => {
  const all = await startRollouts(t, 3);
  const { tenant, devices } = all;
  const tags = `${tenant.path}/devices/tags`;
  const many = Object.fromEntries(Array.from({ length: 32 }, (_, index) => [`k${index}`, 'x']));
  const [first, second] = devices.map(({ deviceId }) => deviceId);
  await tenant.api.patch(tags, { json: { devices: { devices: [first] }, tags: many } });
  await tenant.api.patch(tags, { json: { devices: { devices: [second] }, tags: { site: 'osaka' } } });
  const json = { devices: {}, tags: { site: 'osaka' } };
  const before = await tenant.api.get(`${tenant.path}/devices/status`);
  const found = await tenant.api.patch(tags, { json: { ...json, dryRun: true } });
  const expected = { matching: 3, changed: 1, refused: 1, refusedDevices: [first] };
  t.match(found, { status: 200, body: expected });
  t.same((await tenant.api.get(`${tenant.path}/devices/status`)).body, before.body);
  const env = envOf(all);
  const command = await run(['device', 'tags', 'site=osaka', '--all', '--dry-run', '--json'], { env });
  t.match(JSON.parse(command.stdout), { ok: false, ...expected });
  t.match(await tenant.api.patch(tags, { json }), { body: expected }, 'the change does what the dry run has told');
  t.match(await tenant.api.patch(tags, { json: { ...json, dryRun: true } }), { body: { changed: 0 } });
});
