import type { RolloutDetails } from '@lapel/schemas/contracts/types';
import t from 'tap';
import { startRollouts } from './rollout-world.ts';

type Order = RolloutDetails['permits'][number];
/** The last part of the path of each order; two have none. */
const PATHS: Readonly<Record<Order, string>> = {
  revert: 'revert',
  resume: 'resume',
  approve: 'approve',
  pause: 'pause',
  retry: 'retry-failed',
  change: '',
  cancel: '',
};
const HOUR = 3_600_000;
const language = (lang: string) => ({ parameters: { lang } });

t.test('a rollout says which orders it permits', { timeout: 240_000 }, async (t) => {
  const world = await startRollouts(t, 3);
  const { tenant, start, read, commands, answer, act } = world;
  const send = (order: Order, rolloutId: string) => {
    const path = `${tenant.path}/rollouts/${rolloutId}`;
    if (order === 'cancel') return tenant.api.delete(path);
    if (order === 'change') return tenant.api.patch(path, { json: { label: 'x' } });
    return act(rolloutId, PATHS[order], ['revert', 'retry'].includes(order) ? {} : undefined);
  };

  /** Each order that it does not name is refused with its state, or changes nothing. */
  async function permits(rolloutId: string): Promise<Order[]> {
    const before = await read(rolloutId);
    for (const order of Object.keys(PATHS) as Order[]) {
      if (before.permits.includes(order)) continue;
      const { status, headers } = await send(order, rolloutId);
      if (status === 200) t.same((await read(rolloutId)).history, before.history, `${order} changes nothing`);
      else t.match({ status, code: headers['lapel-error-code'] }, { status: 409, code: 'ROLLOUT_STATE' }, order);
    }
    return before.permits;
  }

  // Something to go back to: each device takes a language first.
  const first = await start(language('de'));
  t.same(await permits(first), ['revert', 'pause', 'cancel'], 'running');
  for (const one of await commands()) await answer(...one);
  t.match(await read(first), { state: 'completed', permits: ['revert'] });

  const later = await start({
    ...language('fr'),
    startAt: new Date(world.world.clock.now() / 1000 + HOUR).toISOString(),
  });
  t.same(await permits(later), ['pause', 'change', 'cancel'], 'scheduled');
  await act(later, 'pause');
  t.same(await permits(later), ['resume', 'change', 'cancel'], 'paused before its start');
  t.match(await send('cancel', later), { status: 200 });
  t.same(await permits(later), [], 'cancelled before its start');

  const stages = [{ count: 2, continueWhen: { succeededPercent: 40 }, approval: true }];
  const bad = await start({ ...language('ja'), stages });
  const sent = [...(await commands())];
  await answer(...sent[0]!);
  await answer(...sent[1]!, 'BROKEN');
  t.same(await permits(bad), ['revert', 'approve', 'pause', 'retry', 'cancel'], 'it waits for an approval');
  await act(bad, 'pause');
  t.same(await permits(bad), ['revert', 'resume', 'approve', 'retry', 'change', 'cancel'], 'paused');
  for (const order of ['change', 'approve', 'resume', 'pause', 'resume'] as const)
    t.match(await send(order, bad), { status: 200 }, order);
  await world.world.idle();
  t.same(await permits(bad), ['revert', 'pause', 'retry', 'cancel'], 'its last stage asks for no approval');
  for (const one of await commands()) await answer(...one);
  t.match(await read(bad), { state: 'completed', counts: { failed: 1 }, permits: ['revert', 'retry'] });
  const { body } = await send('revert', bad);
  t.same(await permits(bad), [], 'nobody gets the release after its revert');
  await world.world.idle();
  t.same(await permits(body.rolloutId), ['pause', 'cancel'], 'a revert is not reverted');
});

t.test('what a rollout permits depends on who asks', async (t) => {
  const { world, tenant, start, read, commands, answer } = await startRollouts(t, 2);
  const json = { name: 'Ann', role: 'admin' };
  const ann = world.clientWith((await world.admin().post('/admin/v1/developers/dev/members', { json })).body.token);
  const rolloutId = await start({ stages: [{ count: 1, approval: { by: 'other' } }] });
  for (const one of await commands()) await answer(...one);
  t.same((await read(rolloutId)).permits, ['revert', 'pause', 'cancel'], 'the application is no person');
  const path = `${tenant.path}/rollouts/${rolloutId}`;
  t.same((await ann.get(path)).body.permits, ['revert', 'approve', 'pause', 'cancel']);
  const { body } = await world.admin().get(`/admin/v1/rollouts/${rolloutId}`);
  t.same(body.permits, ['pause', 'cancel'], 'the operator can only stop it');
  t.same((await ann.post(`${path}/approve`)).body.permits.includes('approve'), false, 'it is approved');
});
