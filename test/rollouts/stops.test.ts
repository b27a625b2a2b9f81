import { inParallel } from '@lapel/device-sim/customer/service-client';
import t from 'tap';
import { startRollouts } from './rollout-world.ts';

t.test('from the result that makes the abort rule true on, not one more command is published', async (t) => {
  const { world, tenant, devices, start, read, commands, answer, act, events, members, checkCounts } =
    await startRollouts(t, 8);
  const away = devices.slice(0, 3);
  for (const { link } of away) await link.drop();
  const rolloutId = await start({ abort: { failedPercent: 50, minimumResults: 2 }, ratePerMinute: 100_000 });
  const sent = [...(await commands())];
  t.equal(sent.length, 5);
  await answer(...sent[0]!, 'INTERNAL');
  t.equal((await read(rolloutId)).state, 'running', 'there are too few results');
  await answer(...sent[1]!);
  t.match(await read(rolloutId), {
    state: 'paused',
    reason: 'ABORT_RULE',
    counts: { succeeded: 1, failed: 1, unfinished: 3, waiting: 3 },
  });
  t.same(await events(), ['stageStarted 1', 'paused 1 ABORT_RULE']);
  await checkCounts(t, rolloutId);
  const back = away[0]!;
  const link = await world.connect(back);
  await world.idle();
  t.equal(link.pending('publish').length, 0, 'a device that was away gets nothing');
  const listed = await tenant.api.get(`${back.path}/transactions?operation=setLanguage`);
  t.same(listed.body.transactions, [], 'a command that was never published is gone without a trace');

  await answer(...sent[2]!);
  t.match(
    (await read(rolloutId)).counts,
    { succeeded: 2, unfinished: 2 },
    'a command that was published keeps its transaction',
  );
  t.match(await act(rolloutId, 'resume'), { status: 200, body: { state: 'running', reason: null } });
  const { operation, attempt, transactionId } = await link.command();
  t.match({ operation, attempt }, { operation: 'setLanguage', attempt: 1 }, 'after resume it gets its command');
  await link.ack({ transactionId, status: 'succeeded' });
  await world.idle();
  t.match((await read(rolloutId)).counts, { succeeded: 3, unfinished: 4, waiting: 0 });
  await checkCounts(t, rolloutId);
  t.equal((await members(rolloutId)).length, 8);
});

t.test('resume accepts the failures so far, and the abort rule counts anew', async (t) => {
  const { start, read, commands, answer, act, events } = await startRollouts(t, 6);
  const rolloutId = await start({ abort: { failedPercent: 50, minimumResults: 2 } });
  const sent = [...(await commands())];
  await answer(...sent[0]!, 'INTERNAL');
  await answer(...sent[1]!, 'INTERNAL');
  t.equal((await read(rolloutId)).reason, 'ABORT_RULE');
  await act(rolloutId, 'resume');
  await answer(...sent[2]!, 'INTERNAL');
  t.equal((await read(rolloutId)).state, 'running', 'one more failure is too few results');
  await answer(...sent[3]!);
  t.match(await read(rolloutId), { state: 'paused', reason: 'ABORT_RULE' });
  t.same(await events(), ['stageStarted 1', 'paused 1 ABORT_RULE', 'paused 1 ABORT_RULE']);
});

t.test('devices that try again after a resume do not hide the next failures from the abort rule', async (t) => {
  const { start, read, commands, answer, act, checkCounts } = await startRollouts(t, 4);
  const rolloutId = await start({ abort: { failedPercent: 50, minimumResults: 2 } });
  const sent = [...(await commands())];
  await answer(...sent[0]!, 'INTERNAL');
  await answer(...sent[1]!, 'INTERNAL');
  await act(rolloutId, 'resume');
  t.match(await act(rolloutId, 'retry-failed', {}), { status: 200, body: { devices: 2 } });
  const again = [...(await commands())];
  t.equal(again.length, 2);
  await answer(...again[0]!, 'INTERNAL');
  t.equal((await read(rolloutId)).state, 'running', 'one failure is too few results');
  await answer(...again[1]!, 'INTERNAL');
  t.match(await read(rolloutId), { state: 'paused', reason: 'ABORT_RULE', counts: { failed: 2, unfinished: 2 } });
  await checkCounts(t, rolloutId);
});

t.test('codes decide on which failures count, and a command that expired says nothing', async (t) => {
  const { world, devices, start, read, commands, answer } = await startRollouts(t, 4);
  await devices[0]!.link.drop();
  const rolloutId = await start({ abort: { failedPercent: 50, minimumResults: 1 }, expireIn: 60 });
  await commands();
  world.clock.advance(60_000);
  await world.idle();
  t.match(await read(rolloutId), { state: 'running', errors: [{ code: 'EXPIRED', devices: 1 }] });
  const other = await start({
    abort: { failedPercent: 50, minimumResults: 2, codes: ['BROKEN'] },
    devices: { connected: true },
  });
  const sent = [...(await commands())];
  await answer(...sent[0]!, 'INTERNAL');
  await answer(...sent[1]!, 'INTERNAL');
  t.equal((await read(other)).state, 'running');
  await answer(...sent[2]!, 'BROKEN');
  t.equal((await read(other)).state, 'completed', 'one of three is fewer than half');
});

t.test('what is cancelled sends nothing any more, and ends on every device', async (t) => {
  const { world, tenant, devices, start, read, commands, answer, members, events, checkCounts } = await startRollouts(
    t,
    4,
  );
  const rolloutId = await start({ stages: [{ count: 2 }] });
  const sent = [...(await commands())];
  await answer(...sent[0]!);
  t.equal((await tenant.api.delete(`${tenant.path}/rollouts/${rolloutId}`)).status, 200);
  await world.idle();
  t.match(await read(rolloutId), {
    state: 'cancelled',
    counts: { succeeded: 1, cancelled: 3, waiting: 0, unfinished: 0 },
  });
  const { deviceId } = (await members(rolloutId, 'state=cancelled')).find(
    ({ transactionId }) => transactionId !== null,
  )!;
  t.equal((await devices.find((device) => device.deviceId === deviceId)!.link.command()).operation, 'cancel');
  t.same(await events(), ['stageStarted 1', 'cancelled 1']);
  await checkCounts(t, rolloutId);
  t.match(await tenant.api.post(`${tenant.path}/rollouts/${rolloutId}/retry-failed`), { status: 409 });
});

t.test('outside of its window nothing is made, and what was not delivered goes again in the next one', async (t) => {
  const { world, devices, start, read, commands, answer } = await startRollouts(t, 2);
  const [here, away] = devices;
  await away!.link.drop();
  // The clock of the tests begins at 09:30 in UTC, a Friday.
  const rolloutId = await start({ window: { from: '09:35', to: '09:40', timeZone: 'UTC', days: ['fri'] } });
  t.equal((await commands()).size, 0);
  t.match(await read(rolloutId), { state: 'running', counts: { waiting: 2 } });
  world.clock.advance(5 * 60_000);
  const [sent] = [...(await commands())];
  t.equal(sent?.[0], here!.deviceId);
  t.match((await read(rolloutId)).counts, { unfinished: 2 });
  for (let minute = 0; minute < 6; minute += 1) {
    world.clock.advance(60_000);
    await world.idle();
  }
  t.match(
    await read(rolloutId),
    { state: 'running', counts: { unfinished: 1, waiting: 1 } },
    'what was delivered stays',
  );
  const link = await world.connect(away!);
  await world.idle();
  t.equal(link.pending('publish').length, 0);
  await answer(...sent!);
  t.match((await read(rolloutId)).counts, { succeeded: 1, waiting: 1 }, 'and its result counts');
});

t.test('changes and actions are refused in states that do not allow them, and faults are named', async (t) => {
  const { world, tenant, start, act, read } = await startRollouts(t, 1);
  const rolloutId = await start({ startAt: '2026-11-21T00:00:00Z' });
  const patch = (json: object) => tenant.api.patch(`${tenant.path}/rollouts/${rolloutId}`, { json });
  t.match(
    await patch({ ratePerMinute: 5, window: { from: '22:00', to: '05:00', timeZone: 'Asia/Tokyo' }, label: 'night' }),
    {
      status: 200,
      body: { label: 'night', rules: { ratePerMinute: 5, window: { from: '22:00' } } },
    },
  );
  t.match(await patch({ window: null, ratePerMinute: null }), { status: 200 });
  t.same(Object.keys((await read(rolloutId)).rules), ['startAt']);
  for (const [json, place] of [
    [{ window: { from: '22', to: '05:00', timeZone: 'UTC' } }, ['body', 'window', 'from']],
    [{ window: { from: '22:00', to: '05:00', timeZone: 'Mars/Olympus' } }, ['body', 'window', 'timeZone']],
    [{ abort: { failedPercent: 0, minimumResults: 1 } }, ['body', 'abort', 'failedPercent']],
    [{ colour: 1 }, ['body', 'colour']],
  ] as const)
    t.match(await patch(json), { status: 400, body: { details: [{ loc: place }] } });
  t.match(await act(rolloutId, 'resume'), { status: 409, body: { message: 'the rollout is scheduled.' } });
  t.match(await act(rolloutId, 'approve'), { status: 409, body: { message: 'the rollout is scheduled.' } });
  t.match(await tenant.api.get(`${tenant.path}/rollouts/${rolloutId}/devices?code=X`), {
    status: 400,
    body: { details: [{ loc: ['query', 'state'], msg: 'Field required beside code' }] },
  });
  t.equal((await act(rolloutId, 'pause')).status, 200);
  t.match(await act(rolloutId, 'approve'), {
    status: 409,
    body: { message: 'the rollout is paused, and no stage has begun.' },
  });
  t.match(await act(rolloutId, 'resume'), { status: 200, body: { state: 'scheduled' } });
  const create = (json: object) =>
    tenant.api.post(`${tenant.path}/rollouts`, {
      json: { operation: 'setLanguage', parameters: { lang: 'ja' }, devices: {}, ...json },
    });
  for (const [json, ...places] of [
    [{ parameters: { lang: 'x'.repeat(99) } }, 'body parameters lang'],
    [{ parameters: [] }, 'body parameters'],
    [{ operation: 'activate' }, 'body operation'],
    [{ stages: [{ percent: 60 }, { percent: 60 }] }, 'body stages'],
    [{ stages: [{}] }, 'body stages 0 percent'],
    [{ stages: [{ percent: 1, count: 1 }] }, 'body stages 0 count'],
    [{ devices: { salt: 'a' } }, 'body devices percent'],
    [{ expireIn: 5 }, 'body expireIn'],
    [{ startAt: '2026-02-31T00:00:00Z' }, 'body startAt'],
  ] as const) {
    const answer = await create(json);
    t.equal(answer.status, 400, JSON.stringify(answer.body));
    t.same(
      answer.body.details?.map(({ loc }: { loc: string[] }) => loc.join(' ')),
      places,
    );
  }
  const other = await world.createTenant('other');
  t.match(await other.api.get(`${other.path}/rollouts/${rolloutId}`), {
    status: 404,
    body: { reason: 'rollout not found.' },
  });
  t.match(await other.api.delete(`${other.path}/rollouts/${rolloutId}`), { status: 404 });
  const admin = world.admin();
  t.match((await admin.get('/admin/v1/rollouts')).body, {
    rollouts: [{ rolloutId, applicationId: tenant.applicationId }],
  });
  t.match(await admin.post(`/admin/v1/rollouts/${rolloutId}/pause`), {
    status: 200,
    body: { state: 'paused', history: [{ event: 'paused', by: 'administration' }] },
  });
  t.match(await admin.delete(`/admin/v1/rollouts/${rolloutId}`), { status: 200, body: { state: 'cancelled' } });
  const actions = (await admin.get('/admin/v1/audit')).body.entries.map((entry: { action: string }) => entry.action);
  t.ok(actions.includes('POST /v1/applications/{applicationId}/rollouts'), actions.join('\n'));
});

t.test('a request with an Idempotency-Key starts one rollout', async (t) => {
  const { tenant, world } = await startRollouts(t, 1);
  const json = { operation: 'setLanguage', parameters: { lang: 'ja' }, devices: {} };
  const ask = () => tenant.api.post(`${tenant.path}/rollouts`, { json, headers: { 'idempotency-key': 'one' } });
  const first = await ask();
  const again = await ask();
  t.match(again, { status: 201, body: first.body, headers: { 'idempotency-replayed': 'true' } });
  await world.idle();
  t.equal((await tenant.api.get(`${tenant.path}/rollouts`)).body.rollouts.length, 1);
});

t.test('an application has at most a hundred rollouts at work, however many start at the same time', async (t) => {
  const { tenant, world, start, commands, answer, act, read } = await startRollouts(t, 1);
  const ended: string[] = [];
  while (ended.length < 2) {
    const rolloutId = await start();
    ended.push(rolloutId);
    for (const [deviceId, command] of await commands()) await answer(deviceId, command, 'INTERNAL');
    t.match(await read(rolloutId), { state: 'completed', counts: { failed: 1 } });
  }
  const json = { operation: 'setLanguage', parameters: { lang: 'ja' }, devices: {}, startAt: '2030-01-01T00:00:00Z' };
  // More requests of this kind at the same time would be refused for another reason.
  const startMany = (count: number) =>
    inParallel(Array.from({ length: count }), 5, () => tenant.api.post(`${tenant.path}/rollouts`, { json }));
  const made = await startMany(97);
  t.ok(made.every(({ status }) => status === 201));

  const atOnce = await startMany(5);
  t.same(
    atOnce.map(({ status }) => status).toSorted((one, other) => one - other),
    [201, 201, 201, 429, 429],
  );
  t.match(
    atOnce.find(({ status }) => status === 429),
    {
      headers: { 'lapel-error-code': 'TOO_MANY_ROLLOUTS' },
      body: { message: 'the application has 100 rollouts at work and may not have more.' },
    },
  );
  t.equal((await tenant.api.delete(`${tenant.path}/rollouts/${made[0]!.body.rolloutId}`)).status, 200);
  await world.idle();
  const retried = await Promise.all(ended.map((rolloutId) => act(rolloutId, 'retry-failed', {})));
  t.same(
    retried.map(({ status }) => status).toSorted((one, other) => one - other),
    [200, 429],
    'also completed ones that run again count',
  );
  const { values } = await world.service.metrics.rolloutsRefused.get();
  t.match(values, [{ labels: { bound: 'at_work' }, value: 3 }]);
});
