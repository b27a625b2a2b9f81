import t from 'tap';
import { pass, speak, startRollouts } from './rollout-world.ts';
import { soaking } from './soaking.ts';

const MINUTE = 60_000;

type World = Awaited<ReturnType<typeof startRollouts>>;

/** Sends an approval or a resume with the tag of the verdict that was read. */
const sendSeen = ({ tenant }: Pick<World, 'tenant'>, rolloutId: string, action: string, seen: string, json?: object) =>
  tenant.api.post(`${tenant.path}/rollouts/${rolloutId}/${action}`, {
    headers: { 'if-match': seen },
    ...(json && { json }),
  });

t.test('an approval with If-Match', async (t) => {
  const world = await startRollouts(t, 5);
  const { read, start, commands, answer } = world;
  const rolloutId = await start({
    stages: [{ count: 3, continueWhen: { succeededPercent: 60, soakFor: 3600 }, approval: true }],
  });
  const sent = [...(await commands())];
  for (const [deviceId, command] of sent.slice(0, 2)) await answer(deviceId, command);
  const [{ verdict, verdictTag }, next] = (await read(rolloutId)).stages as [
    { verdict: object; verdictTag: string },
    object,
  ];
  t.match(verdict, { succeeded: 2, failed: 0, codes: [], fired: [], paused: null, measures: { silent: 'unknown' } });
  t.match(next, { verdict: null, verdictTag: null }, 'a stage that has not begun has no verdict');

  await t.test('is refused after a new failure, and says which words have changed', async (t) => {
    const [deviceId, command] = sent[2]!;
    await answer(deviceId, command, 'BROKEN');
    const refused = await sendSeen(world, rolloutId, 'approve', verdictTag, { stage: 1 });
    t.match(refused, {
      status: 412,
      body: {
        message: 'the figures have changed since they were read (failed: now 1; codes: now BROKEN); look again.',
      },
    });
    t.equal(refused.headers['lapel-error-code'], 'VERDICT_CHANGED');
    t.match(await read(rolloutId), { stages: [{ approved: false, verdict: { failed: 1, codes: ['BROKEN'] } }] });
  });

  await t.test('is refused with the tag of a verdict that never was', async (t) => {
    for (const [tag, message] of [
      [verdictTag.replace('"1.', '"2.'), /stage 1 has begun/],
      [verdictTag.replace('"1.', '"1.more'), /another release/],
      [`"x", ${verdictTag}`, /failed: now 1/],
    ] as const)
      t.match(await sendSeen(world, rolloutId, 'approve', tag), {
        status: 412,
        headers: { 'lapel-error-code': 'VERDICT_CHANGED' },
        body: { message },
      });
  });

  await t.test('is told that its If-Match is no tag of a verdict, and not that figures have changed', async (t) => {
    for (const tag of ['"x"', 'x', '', ',', verdictTag.replaceAll('"', ''), `W/${verdictTag}`, '"a", *'])
      t.match(
        await sendSeen(world, rolloutId, 'approve', tag),
        {
          status: 412,
          headers: { 'lapel-error-code': 'VERDICT_TAG_INVALID' },
          body: { message: 'If-Match has no tag of a verdict; send the `verdictTag` of the stage, as it was read.' },
        },
        tag,
      );
  });

  await t.test('is accepted with the present verdict, which the history keeps', async (t) => {
    const seen = (await read(rolloutId)).stages[0]!;
    t.match(await sendSeen(world, rolloutId, 'approve', seen.verdictTag!, { stage: 1 }), {
      status: 200,
      body: { history: [{ event: 'approved', verdict: seen.verdict }] },
    });
  });

  await t.test('changes nothing when it is repeated, also with an earlier tag', async (t) => {
    const before = (await read(rolloutId)).history.length;
    t.equal((await sendSeen(world, rolloutId, 'approve', verdictTag, { stage: 1 })).status, 200);
    t.equal((await read(rolloutId)).history.length, before);
  });
});

t.test('a resume with a malformed If-Match is told so, also before the first stage', async (t) => {
  const world = await startRollouts(t, 1);
  const { start, act } = world;
  const [later, running] = [await start({ startAt: '2030-01-01T00:00:00Z' }), await start()];
  for (const rolloutId of [later, running]) {
    await act(rolloutId, 'pause');
    const headers = { 'lapel-error-code': 'VERDICT_TAG_INVALID' };
    t.match(await sendSeen(world, rolloutId, 'resume', '"x"'), { status: 412, headers });
  }
  t.match(await sendSeen(world, later, 'resume', `"1.${'A'.repeat(52)}"`), {
    status: 412,
    headers: { 'lapel-error-code': 'VERDICT_CHANGED' },
    body: { message: /no stage has begun/ },
  });
});

t.test('an approval without If-Match works as before, and keeps the verdict as well', async (t) => {
  const { read, start, commands, answer, act } = await startRollouts(t, 2);
  const rolloutId = await start({ stages: [{ count: 1, approval: true }] });
  for (const [deviceId, command] of await commands()) await answer(deviceId, command);
  t.equal((await act(rolloutId, 'approve')).status, 200);
  const approved = (await read(rolloutId)).history.find(({ event }) => event === 'approved');
  t.match(approved, { verdict: { succeeded: 1, failed: 0 } });
});

t.test('a failure that comes with the approval is either before it or after it', async (t) => {
  const world = await startRollouts(t, 6);
  const { read, start, commands, answer } = world;
  const stages = [{ count: 3, continueWhen: { succeededPercent: 60, soakFor: 3600 }, approval: true }];
  const rolloutId = await start({ stages });
  const sent = [...(await commands())];
  for (const [deviceId, command] of sent.slice(0, 2)) await answer(deviceId, command);
  const { verdictTag } = (await read(rolloutId)).stages[0]!;
  const [deviceId, command] = sent[2]!;
  const [approval] = await Promise.all([
    sendSeen(world, rolloutId, 'approve', verdictTag!),
    answer(deviceId, command, 'BROKEN'),
  ]);
  const { history } = await read(rolloutId);
  const approved = history.find(({ event }) => event === 'approved');
  if (approval.status === 412) t.notOk(approved, 'nothing was approved');
  else t.match(approved, { verdict: { failed: 0 } }, 'the approval knows no failure');
});

t.test('the tag stays while nothing happens that a person would decide differently on', async (t) => {
  const {
    hour,
    shown,
    canaries,
    pass: wait,
  } = await soaking(t, 6, 6, [{ measure: 'batteryDrop', atMost: 20, minimumDevices: 3 }]);
  let level = 100;
  const drain = (): object => {
    level -= 0.05;
    return { lang: 'ja', battery: { level: Math.round(level), charging: false } };
  };
  await hour(drain);
  const first = (await shown()).stages[0]!;
  t.match(first.verdict, { succeeded: 5, seen: 5, silent: 0, measures: { silent: 'good', batteryDrop: 'good' } });
  await hour(drain);
  const second = (await shown()).stages[0]!;
  t.not(second.health!.treated.batteryDrop, first.health!.treated.batteryDrop, 'the rates have changed');
  t.equal(second.verdictTag, first.verdictTag);

  await t.test('and changes with a device that is newly silent', async (t) => {
    await canaries[0]!.link.drop();
    await wait(40 * MINUTE);
    const third = (await shown()).stages[0]!;
    t.match(third.verdict, { silent: 1 });
    t.not(third.verdictTag, first.verdictTag);
  });
});

t.test('a rule that is exceeded, and has paused the rollout, is a word of the verdict', async (t) => {
  const rule = { measure: 'silent', atMost: 20, minimumDevices: 4 };
  const world = await soaking(t, 4, 2, [rule]);
  const { rolloutId, canaries, shown, pass: wait } = world;
  const { verdictTag: early } = (await shown()).stages[0]!;
  await canaries[0]!.link.drop();
  await wait(32 * MINUTE);
  const stopped = await shown();
  const verdict = { silent: 1, measures: { silent: 'broken' }, fired: ['silent'], paused: 'HEALTH_RULE' };
  t.match(stopped, {
    reason: 'HEALTH_RULE',
    stages: [{ verdict }],
    history: [{ event: 'paused', health: { rule }, verdict: { silent: 1, measures: { silent: 'broken' } } }],
    healthRules: [{ rule, treated: { devices: 4, value: 25 }, stopsAt: 20 }],
  });

  await t.test('a resume accepts the figures that were read, and no others', async (t) => {
    t.match(await sendSeen(world, rolloutId, 'resume', early!), {
      status: 412,
      body: { message: /silent devices: now 1 \(broken\); .*paused: now HEALTH_RULE/ },
    });
    t.match(await shown(), { state: 'paused' });
    const { verdictTag } = (await shown()).stages[0]!;
    t.equal((await sendSeen(world, rolloutId, 'resume', verdictTag!)).status, 200);
    const { state, history, stages } = await shown();
    t.match({ state, history, stages }, { state: 'running', history: [{ event: 'resumed', verdict }] });
    t.match(stages[0]!.verdict, { fired: ['silent'], paused: null }, 'it has fired once');
  });
});

t.test('the abort rule says how far it is, and what was accepted', async (t) => {
  const world = await startRollouts(t, 10);
  const { read, start, commands, answer } = world;
  const rolloutId = await start({ abort: { failedPercent: 40, minimumResults: 5 }, maxUnfinished: 10 });
  const sent = [...(await commands())];
  t.match(await read(rolloutId), { abortRule: { failures: 0, results: 0, stopsAt: 5 } });
  const fail = async (some: typeof sent): Promise<void> => {
    for (const [deviceId, command] of some) await answer(deviceId, command, 'BROKEN');
  };
  for (const [deviceId, command] of sent.slice(0, 3)) await answer(deviceId, command);
  t.match(await read(rolloutId), { abortRule: { failures: 0, results: 3, stopsAt: 2, acceptedFailures: 0 } });
  await fail(sent.slice(3, 5));
  const stopped = await read(rolloutId);
  t.match(stopped, { state: 'paused', reason: 'ABORT_RULE', abortRule: { failures: 2, results: 5, stopsAt: 2 } });
  t.match(stopped.history[0], {
    event: 'paused',
    verdict: { succeeded: 2, failed: 2, codes: ['BROKEN'], paused: 'ABORT_RULE' },
  });
  const { verdictTag } = stopped.stages[0]!;
  t.equal((await sendSeen(world, rolloutId, 'resume', verdictTag!)).status, 200);
  await fail(sent.slice(5, 7));
  t.match(await read(rolloutId), {
    state: 'running',
    abortRule: { failures: 2, results: 2, stopsAt: 5, acceptedFailures: 2, acceptedResults: 5 },
  });
});

t.test('a resume approves no stage in the place of another person', async (t) => {
  const { world, tenant, read, commands, answer } = await startRollouts(t, 2);
  const json = { name: 'Ann', role: 'admin' };
  const ann = world.clientWith((await world.admin().post('/admin/v1/developers/dev/members', { json })).body.token);
  const made = await ann.post(`${tenant.path}/rollouts`, {
    json: {
      operation: 'setLanguage',
      parameters: { lang: 'ja' },
      devices: {},
      stages: [{ count: 1, approval: { by: 'other' } }],
    },
  });
  const { rolloutId } = made.body;
  await world.idle();
  for (const [deviceId, command] of await commands()) await answer(deviceId, command, 'BROKEN');
  t.match(await read(rolloutId), { reason: 'STAGE_FAILED' });
  t.equal((await ann.post(`${tenant.path}/rollouts/${rolloutId}/resume`)).status, 200);
  await world.idle();
  t.match(await read(rolloutId), { state: 'running', stage: 1, stages: [{ approved: false }] });
});

t.test('devices that are switched off are told from those that carry the command out', async (t) => {
  const { world, devices, device, read, start, commands, answer } = await startRollouts(t, 3);
  await devices[0]!.link.drop();
  await pass(world, MINUTE);
  const rolloutId = await start();
  const sent = [...(await commands())];
  // The service has heard the PUBACK of a device before what comes after it; PUBACKs are stored together.
  for (const [deviceId] of sent) await speak(device(deviceId).link, {});
  await pass(world, 1_000);
  t.match(await read(rolloutId), {
    counts: { unfinished: 3 },
    inWork: { installing: 2, switchedOff: 1, queued: 0 },
    stages: [{ inWork: { installing: 2, switchedOff: 1 } }],
  });
  for (const [deviceId, command] of sent) await answer(deviceId, command);
  t.match(await read(rolloutId), { counts: { unfinished: 1 }, inWork: { installing: 0, switchedOff: 1 } });
});

t.test('the results over time are of the same moment as the counts', async (t) => {
  const { tenant, start, commands, answer } = await startRollouts(t, 3);
  const rolloutId = await start();
  const [first, second] = [...(await commands())];
  await answer(...first!);
  await answer(...second!, 'BROKEN');
  const path = `${tenant.path}/rollouts/${rolloutId}`;
  const { counts, results } = (await tenant.api.get(`${path}?results=true`)).body;
  t.match(counts, { succeeded: 1, failed: 1, unfinished: 1 });
  t.match(results.results, [{ succeeded: 1, failed: 1 }]);
  t.notOk('results' in (await tenant.api.get(path)).body);
});
