import t from 'tap';
import { LANG, startRollouts } from './rollout-world.ts';

const MOST = 100;

t.test('a rollout at work can be reverted, however many others of the application are at work', async (t) => {
  const { tenant, devices, start, commands, answer, act, read } = await startRollouts(t, 2);
  const [completed, running]: [string[], string[]] = [[], []];
  for (const lang of ['de', 'fr'])
    for (const [index, { deviceId }] of devices.entries()) {
      const continuous = index === 1 && lang === 'fr';
      const only = { devices: [deviceId] };
      const rolloutId = await start({ parameters: { lang }, devices: only, ...(continuous && { continuous }) });
      for (const [id, command] of await commands()) await answer(id, command);
      (continuous ? running : completed).push(rolloutId);
    }
  const scheduled = { ...LANG, startAt: '2027-01-01T00:00:00Z' };
  for (let index = 1; index < MOST; index += 1)
    t.match(await tenant.api.post(`${tenant.path}/rollouts`, { json: scheduled }), { status: 201 });
  t.match(await tenant.api.post(`${tenant.path}/rollouts`, { json: LANG }), { status: 429 });

  // The device is away, so the revert of a completed rollout, which ends none, stays at work.
  await devices[0]!.link.drop();
  t.match(await act(completed[2]!, 'revert', {}), { status: 201 });
  const made = await act(running[0]!, 'revert', {});
  t.equal(made.status, 201, JSON.stringify(made.body));
  t.match(await read(running[0]!), { state: 'cancelled', revertedBy: made.body.rolloutId });
});
