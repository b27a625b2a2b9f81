import t from 'tap';
import { rateAfter } from '../../src/core/rollouts/rate.ts';
import { startRollouts } from './rollout-world.ts';

t.test('a rate doubles after each so many successes, up to its highest', async (t) => {
  const rate = { from: 3, to: 20, doubleAfter: 5 };
  t.same(
    [0, 4, 5, 9, 10, 15, 100_000].map((succeeded) => rateAfter(rate, succeeded)),
    [3, 3, 6, 6, 12, 20, 20],
  );
  t.equal(rateAfter(7, 100), 7);
});

t.test('a rollout makes more commands a minute when devices have succeeded', async (t) => {
  const { world, tenant, start, read, commands, answer, act } = await startRollouts(t, 10, { database: 'sqlite' });
  const ratePerMinute = { from: 2, to: 4, doubleAfter: 2 };
  const rolloutId = await start({ ratePerMinute });
  t.match((await read(rolloutId)).rules, { ratePerMinute });
  /** Lets a minute pass in steps of a quarter; returns the commands of it. */
  async function minute(error?: string): Promise<number> {
    let made = 0;
    for (let step = 0; step < 4; step += 1) {
      world.clock.advance(15_000);
      for (const [deviceId, command] of await commands()) {
        made += 1;
        await answer(deviceId, command, error);
      }
    }
    return made;
  }
  for (const [deviceId, command] of await commands()) await answer(deviceId, command);
  t.match((await read(rolloutId)).counts, { succeeded: 1 });
  t.equal(await minute('INTERNAL'), 2, 'failures do not make it faster');
  world.clock.advance(15_000);
  for (const [deviceId, command] of await commands()) await answer(deviceId, command);
  world.clock.advance(15_000);
  for (const [deviceId, command] of await commands()) await answer(deviceId, command);
  t.match((await read(rolloutId)).counts, { succeeded: 2 });

  await world.restart();
  await tenant.renew();
  t.match((await read(rolloutId)).counts, { waiting: 5 });
  for (let step = 0; step < 4; step += 1) {
    world.clock.advance(15_000);
    await world.idle();
  }
  t.match((await read(rolloutId)).counts, { waiting: 1 }, 'a restart keeps the rate');
  t.equal((await act(rolloutId, 'pause')).status, 200);
  const patch = (json: object) => tenant.api.patch(`${tenant.path}/rollouts/${rolloutId}`, { json });
  for (const [wrong, place] of [
    [{ from: 5, to: 4, doubleAfter: 1 }, ['body', 'ratePerMinute', 'to']],
    [{ from: 5, to: 9 }, ['body', 'ratePerMinute', 'doubleAfter']],
    [0, ['body', 'ratePerMinute']],
  ] as const)
    t.match(await patch({ ratePerMinute: wrong }), { status: 400, body: { details: [{ loc: place }] } });
  const changed = { from: 1, to: 100, doubleAfter: 1 };
  t.match(await patch({ ratePerMinute: changed }), { status: 200, body: { rules: { ratePerMinute: changed } } });
  t.match(await patch({ ratePerMinute: 30 }), { status: 200, body: { rules: { ratePerMinute: 30 } } });
  t.match(
    await tenant.api.post(`${tenant.path}/rollouts`, {
      json: {
        operation: 'setLanguage',
        parameters: { lang: 'ja' },
        devices: {},
        ratePerMinute: { from: 2, to: 1, doubleAfter: 1 },
      },
    }),
    { status: 400, body: { details: [{ loc: ['body', 'ratePerMinute', 'to'] }] } },
  );
});
