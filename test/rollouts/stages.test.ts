import t from 'tap';
import { stagesOf } from '../../src/core/rollouts/stages.ts';
import { startRollouts } from './rollout-world.ts';

t.test('a rollout of one stage gives each device one command, and completes with the last result', async (t) => {
  const { tenant, start, read, commands, answer, events, checkCounts, members, ...rollouts } = await startRollouts(
    t,
    3,
  );
  const rolloutId = await start({ label: 'Japanese' });
  t.match(await read(rolloutId), {
    state: 'running',
    stage: 1,
    devices: 3,
    counts: { unfinished: 3 },
    label: 'Japanese',
  });
  const sent = await commands();
  t.equal(sent.size, 3);
  for (const [deviceId, command] of sent) {
    t.match(command, { operation: 'setLanguage', parameters: { lang: 'ja' }, attempt: 1 });
    await answer(deviceId, command);
  }
  const done = await read(rolloutId);
  t.match(done, { state: 'completed', counts: { succeeded: 3, unfinished: 0 }, endedAt: /Z$/ });
  t.ok(done.result.p99 !== null && done.delivery.p50 !== null);
  t.same(await events(), ['stageStarted 1', 'completed 1']);
  t.same(
    done.history.map(({ event, by }) => `${event} ${by}`),
    ['completed service', 'stageStarted service', 'started service', 'created application'],
  );
  const { entries } = (await rollouts.world.admin().get(`/admin/v1/audit?about=rollout:${rolloutId}`)).body;
  t.same(
    entries
      .filter(({ actor }: { actor: { kind: string } }) => actor.kind === 'service')
      .map(
        ({ action, details }: { action: string; details: { stage: number | null } }) => `${action} ${details.stage}`,
      ),
    ['ROLLOUT completed 1', 'ROLLOUT stageStarted 1', 'ROLLOUT started null'],
    'the audit log counts stages from 1, too',
  );
  await checkCounts(t, rolloutId);
  const [member] = await members(rolloutId);
  const transaction = await tenant.api.get(
    `${tenant.path}/devices/${member?.deviceId}/transactions/${member?.transactionId}`,
  );
  t.match(
    transaction.body,
    { rolloutId, status: 'succeeded' },
    'the transaction is an ordinary one with the rolloutId',
  );
  const listed = await tenant.api.get(`${tenant.path}/transactions?rolloutId=${rolloutId}`);
  t.equal(listed.body.transactions.length, 3);
  t.match(listed.body.transactions[0], { rolloutId });
  t.match(await rollouts.act(rolloutId, 'pause'), { status: 409, body: { message: 'the rollout is completed.' } });
});

t.test(
  'the next stage begins when the one before has its share of successes, has soaked, and was approved',
  async (t) => {
    const { world, start, read, commands, answer, events, act, members } = await startRollouts(t, 6);
    const rolloutId = await start({
      stages: [
        { count: 2, continueWhen: { succeededPercent: 50, soakFor: 600 } },
        { count: 1, approval: true },
      ],
    });
    const first = await commands();
    t.equal(first.size, 2, 'only the devices of the first stage get a command');
    t.same(
      (await read(rolloutId)).stages.map(({ planned, state }) => [planned, state]),
      [
        [2, 'running'],
        [1, 'waiting'],
        [3, 'waiting'],
      ],
    );
    const [[one, commandOfOne], [other, commandOfOther]] = [...first] as never as [[string, never], [string, never]];
    t.match(await act(rolloutId, 'approve'), {
      status: 409,
      body: { message: 'the rollout is running, and its present stage asks for no approval.' },
    });
    await answer(one, commandOfOne);
    t.equal((await read(rolloutId)).stage, 1, 'it has its share, and must soak');
    world.clock.advance(599_000);
    await world.idle();
    t.equal((await read(rolloutId)).stage, 1);
    world.clock.advance(1_000);
    await world.idle();
    t.equal((await read(rolloutId)).stage, 2);
    await answer(other, commandOfOther, 'INTERNAL');
    for (const [deviceId, command] of await commands()) await answer(deviceId, command);
    t.equal((await read(rolloutId)).stage, 2, 'it waits for its approval');
    t.match(await act(rolloutId, 'approve', { stage: 1 }), {
      status: 409,
      body: { message: 'the rollout is running, in stage 2.' },
    });
    t.equal((await act(rolloutId, 'approve', { stage: 2 })).status, 200);
    await world.idle();
    t.match(await act(rolloutId, 'approve', { stage: 2 }), { status: 200, body: { stage: 3 } }, 'it can be repeated');
    t.same(
      (await read(rolloutId)).history.filter(({ event }) => event === 'approved').map(({ stage }) => stage),
      [2],
    );
    const last = await commands();
    t.equal(last.size, 3);
    for (const [deviceId, command] of last) await answer(deviceId, command);
    t.match(await read(rolloutId), {
      state: 'completed',
      counts: { succeeded: 5, failed: 1 },
      errors: [{ code: 'INTERNAL', state: 'failed', devices: 1, examples: [other] }],
    });
    t.same(await events(), ['stageStarted 1', 'stageStarted 2', 'stageStarted 3', 'completed 3']);
    t.same(
      (await members(rolloutId, 'state=failed&code=INTERNAL')).map(({ deviceId }) => deviceId),
      [other],
    );
  },
);

t.test('a stage that ends without its share pauses the rollout, and resume lets it pass', async (t) => {
  const { start, read, commands, answer, act, events } = await startRollouts(t, 3);
  const rolloutId = await start({ stages: [{ count: 1, continueWhen: { succeededPercent: 100 } }] });
  for (const [deviceId, command] of await commands()) await answer(deviceId, command, 'INTERNAL');
  t.match(await read(rolloutId), { state: 'paused', reason: 'STAGE_FAILED', stage: 1 });
  t.equal((await commands()).size, 0);
  t.equal((await act(rolloutId, 'resume')).status, 200);
  for (const [deviceId, command] of await commands()) await answer(deviceId, command);
  t.match(await read(rolloutId), { state: 'completed', counts: { succeeded: 2, failed: 1 } });
  t.same(await events(), ['stageStarted 1', 'paused 1 STAGE_FAILED', 'stageStarted 2', 'completed 2']);
});

t.test('an approval does not let a stage pass that fails later', async (t) => {
  const { start, read, commands, answer, act, world } = await startRollouts(t, 3);
  const rolloutId = await start({ stages: [{ count: 2, continueWhen: { succeededPercent: 100 }, approval: true }] });
  const [one, other] = [...(await commands())];
  t.equal((await act(rolloutId, 'approve')).status, 200);
  t.match(await act(rolloutId, 'approve'), { status: 200 }, 'a repetition changes nothing');
  t.equal((await read(rolloutId)).history.filter(({ event }) => event === 'approved').length, 1);
  await answer(...one!);
  await answer(...other!, 'INTERNAL');
  t.match(await read(rolloutId), { state: 'paused', reason: 'STAGE_FAILED', stage: 1 });

  await t.test('and a stage whose devices try again is not let pass by the resume', async (t) => {
    t.match(await act(rolloutId, 'retry-failed', {}), { status: 200, body: { devices: 1 } });
    await act(rolloutId, 'resume');
    for (const [deviceId, command] of await commands()) await answer(deviceId, command, 'INTERNAL');
    t.match(await read(rolloutId), { state: 'paused', reason: 'STAGE_FAILED', stage: 1 });
    await act(rolloutId, 'resume');
    t.equal((await commands()).size, 1, 'the next resume lets it pass');
  });

  await t.test('until its devices try again', async (t) => {
    await act(rolloutId, 'retry-failed', {});
    const both = await commands();
    world.clock.advance(60_000);
    for (const [deviceId, command] of both) await answer(deviceId, command);
    t.match(await read(rolloutId), { stage: 2, counts: { failed: 0 } });
  });
});

t.test('failed devices of a completed rollout try again, and their speed is measured from then on', async (t) => {
  const { world, tenant, start, read, commands, answer, act, events, checkCounts } = await startRollouts(t, 3);
  const rolloutId = await start();
  for (const [deviceId, command] of await commands()) await answer(deviceId, command, 'INTERNAL');
  t.match(await read(rolloutId), { state: 'completed', counts: { failed: 3 } });
  t.match(await act(rolloutId, 'retry-failed', { code: 'NOSUCH' }), { status: 200, body: { devices: 0 } });
  t.match(await read(rolloutId), { state: 'completed' }, 'without such devices it stays completed');

  for (let day = 0; day < 5; day += 1) {
    world.clock.advance(86_400_000);
    await world.idle();
  }
  await tenant.renew();
  t.match(await act(rolloutId, 'retry-failed', { code: 'INTERNAL' }), { status: 200, body: { devices: 3 } });
  const again = [...(await commands())];
  world.clock.advance(60_000);
  await answer(...again[0]!);
  await answer(...again[1]!);
  const running = await read(rolloutId);
  t.match(running, { state: 'running', resultsPerMinute: 2, counts: { succeeded: 2, unfinished: 1 } });
  t.equal(Math.round(Date.parse(running.estimatedEnd ?? '') - world.clock.now() / 1000), 30_000);
  await answer(...again[2]!);
  t.match(await read(rolloutId), { state: 'completed', resultsPerMinute: 3 });
  t.same(await events(), ['stageStarted 1', 'completed 1', 'completed 1']);
  await checkCounts(t, rolloutId);
});

t.test(
  'a device that has the wanted state already gets no command, and one that cannot have it is refused',
  async (t) => {
    const { world, tenant, devices, start, read, commands, members } = await startRollouts(t, 3);
    const [same, gone] = devices;
    // A device that has left the application is refused whatever it has: that is not the application's business any more.
    for (const one of [same, gone]) {
      one?.link.publish('status', { lang: 'JA' });
      await one?.link.next('puback');
    }
    const rolloutId = await start({ startAt: '2026-11-20T10:00:00Z' });
    t.equal((await read(rolloutId)).state, 'scheduled');
    await tenant.api.delete(gone?.path ?? '');
    const command = await gone!.link.command();
    await gone!.link.ack({ transactionId: command.transactionId, status: 'succeeded' });
    t.equal((await commands()).size, 0, 'nothing is sent before its time');
    world.clock.advance(1_800_000);
    t.equal((await commands()).size, 1);
    t.match(await read(rolloutId), { state: 'running', counts: { unchanged: 1, refused: 1, unfinished: 1 } });
    t.match(await members(rolloutId, 'state=refused'), [{ deviceId: gone?.deviceId, code: 'DEVICE_NOT_ACTIVATED' }]);
    t.match(await members(rolloutId, 'state=unchanged'), [{ deviceId: same?.deviceId }]);
  },
);

t.test('failed devices try again by the rule of retries, and all at once by a request', async (t) => {
  const { world, start, read, commands, answer, act } = await startRollouts(t, 2);
  const rolloutId = await start({ retry: { codes: ['BUSY'], attempts: 2, after: 60 } });
  const [[one, first], [other, second]] = [...(await commands())] as never as [[string, never], [string, never]];
  await answer(one, first, 'BUSY');
  await answer(other, second, 'INTERNAL');
  t.match((await read(rolloutId)).counts, { waiting: 1, failed: 1 });
  t.equal((await commands()).size, 0, 'not before its time');
  world.clock.advance(60_000);
  const again = await commands();
  t.same([...again.keys()], [one]);
  await answer(one, again.get(one)!, 'BUSY');
  t.match(await read(rolloutId), { state: 'completed', counts: { failed: 2 } });
  t.match(await act(rolloutId, 'retry-failed', { code: 'INTERNAL' }), { status: 200, body: { devices: 1 } });
  const last = await commands();
  t.same([...last.keys()], [other]);
  await answer(other, last.get(other)!);
  t.match(await read(rolloutId), { state: 'completed', counts: { failed: 1, succeeded: 1 } });
});

t.test('results are told over time, from the start of the rollout on', async (t) => {
  const { world, tenant, start, commands, answer, act } = await startRollouts(t, 5);
  const results = async (id: string) => (await tenant.api.get(`${tenant.path}/rollouts/${id}/results`)).body;
  const waits = await start({ startAt: '2030-01-01T00:00:00Z' });
  t.same(await results(waits), { from: null, intervalSeconds: 1, results: [] });
  const rolloutId = await start();
  const sent = [...(await commands())];
  await answer(...sent[0]!);
  await answer(...sent[1]!, 'INTERNAL');
  world.clock.advance(10_000);
  await answer(...sent[2]!);
  const [at, later] = ['2026-11-20T09:30:00.000000Z', '2026-11-20T09:30:10.000000Z'];
  t.same(await results(rolloutId), {
    from: at,
    intervalSeconds: 1,
    results: [
      { at, succeeded: 1, failed: 1 },
      { at: later, succeeded: 1, failed: 0 },
    ],
  });
  world.clock.advance(290_000);
  await answer(...sent[3]!);
  await answer(...sent[4]!);
  t.same(
    await results(rolloutId),
    {
      from: at,
      intervalSeconds: 5,
      results: [
        { at, succeeded: 1, failed: 1 },
        { at: later, succeeded: 1, failed: 0 },
        { at: '2026-11-20T09:35:00.000000Z', succeeded: 2, failed: 0 },
      ],
    },
    'in longer intervals after five minutes',
  );
  t.same((await world.admin().get(`/admin/v1/rollouts/${rolloutId}/results`)).body, await results(rolloutId));
  const before = await results(rolloutId);
  world.clock.advance(86_400_000);
  await tenant.renew();
  t.same(await results(rolloutId), before, 'a day without results makes no interval longer');
  t.match(await act(rolloutId, 'retry-failed'), { status: 200, body: { devices: 1 } });
  t.match((await results(rolloutId)).results[0], { at, succeeded: 1, failed: 0 }, 'a device that tries again has none');
});

t.test('commands are made at the rate of the rollout', async (t) => {
  const { world, start, read, commands } = await startRollouts(t, 5);
  const rolloutId = await start({ ratePerMinute: 2 });
  t.equal((await commands()).size, 1);
  world.clock.advance(29_000);
  t.equal((await commands()).size, 0);
  world.clock.advance(1_000);
  t.equal((await commands()).size, 1);
  world.clock.advance(1_800_000);
  t.equal((await commands()).size, 1, 'commands that nobody made in a pause are lost');
  t.match((await read(rolloutId)).counts, { unfinished: 3, waiting: 2 });
});

t.test('devices that match later join a continuous rollout, which ends only when it is cancelled', async (t) => {
  const { world, tenant, devices, start, read, commands, answer } = await startRollouts(t, 2);
  const [early, late] = devices.map(({ path }) => path);
  const tag = (path: string | undefined) => tenant.api.patch(`${path}/tags`, { json: { ring: 'new' } });
  await tag(early);
  const rolloutId = await start({ continuous: true, devices: { tags: { ring: 'new' } } });
  for (const [deviceId, command] of await commands()) await answer(deviceId, command);
  t.match(await read(rolloutId), { state: 'running', devices: 1, counts: { succeeded: 1 } });
  await tag(late);
  world.clock.advance(60_000);
  for (const [deviceId, command] of await commands()) await answer(deviceId, command);
  t.match(await read(rolloutId), { state: 'running', stage: 1, devices: 2, counts: { succeeded: 2 } });
  t.equal((await tenant.api.delete(`${tenant.path}/rollouts/${rolloutId}`)).status, 200);
  t.match(await read(rolloutId), { state: 'cancelled' });
});

t.test('devices that come later make a stage of their own, unless the shares take all of them', (t) => {
  const devicesOf = (...asked: Parameters<typeof stagesOf>) => stagesOf(...asked).map(({ devices }) => devices);
  t.same(devicesOf([{ count: 3 }], 3), [3]);
  t.same(devicesOf([{ count: 3 }], 3, true), [3, 0]);
  t.same(devicesOf([{ percent: 50 }, { count: 9 }], 3, true), [2, 1, 0]);
  t.same(devicesOf([{ percent: 50 }, { percent: 50 }], 3, true), [2, 1]);
  t.end();
});
