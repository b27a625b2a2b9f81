import { setImmediate as turn } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { startSoftware } from '../api/software-world.ts';
import { NO_POSTGRES } from '../postgres/databases.ts';
import { pass, startRollouts } from './rollout-world.ts';

const wifi = (ssid: string) => [{ ssid, password: `secret-of-${ssid}`, security: 'WPA2' }];
const WIFI = { operation: 'setWifi', parameters: wifi('new'), devices: {} };

/** A rollout of a Wi-Fi list to devices; each of them, except the last, took a list of its own before. */
async function started(t: Test, count: number, more: object = {}, options: Parameters<typeof startRollouts>[2] = {}) {
  const world = await startRollouts(t, count, options);
  const { tenant, devices, commands, answer } = world;
  const set = (deviceId: string, ssid: string) =>
    tenant.api.put(`${tenant.path}/devices/${deviceId}/settings/wifi`, { json: wifi(ssid) });
  for (const { deviceId } of devices.slice(0, -1)) await set(deviceId, `of-${deviceId}`);
  for (const [deviceId, command] of await commands()) await answer(deviceId, command);
  const rolloutId = await world.start({ ...WIFI, ...more });
  return {
    ...world,
    set,
    rolloutId,
    /** Reverts the rollout, and waits until nothing more can be done. */
    async revert(json: object = {}) {
      const made = await world.act(rolloutId, 'revert', json);
      await world.world.idle();
      world.world.clock.advance(1_000);
      await world.world.idle();
      return made;
    },
    ssidOf: ({ parameters }: { parameters: unknown }) =>
      (parameters as { networks: { ssid: string }[] }).networks[0]!.ssid,
  };
}

t.test('each device gets back the settings that it took before the rollout', async (t) => {
  const { rolloutId, devices, commands, answer, revert, ssidOf, read, members, checkCounts, tenant, act } =
    await started(t, 3);
  for (const [deviceId, command] of await commands()) await answer(deviceId, command);
  t.match(await read(rolloutId), { state: 'completed', counts: { succeeded: 3 } });

  const made = await revert();
  t.match(made, { status: 201, body: { devices: 3, leftOut: [{ code: 'FORMER_UNKNOWN', devices: 1 }] } });
  const { rolloutId: id } = made.body;
  t.match(await read(rolloutId), { state: 'completed', revertedBy: id });
  t.equal((await read(rolloutId)).history[0]!.event, 'reverted');

  const sent = [...(await commands())];
  t.same(
    sent.map(([deviceId, command]) => `${deviceId} ${ssidOf(command)}`).toSorted(),
    devices
      .slice(0, -1)
      .map(({ deviceId }) => `${deviceId} of-${deviceId}`)
      .toSorted(),
  );
  for (const [deviceId, command] of sent) await answer(deviceId, command);
  t.match(await read(id), { state: 'completed', reverts: rolloutId, counts: { succeeded: 2, refused: 1 } });
  t.match(await members(id, 'state=refused&code=FORMER_UNKNOWN'), [{ deviceId: devices.at(-1)!.deviceId }]);
  await checkCounts(t, id);

  await t.test('once only, and without a way back to the release', async (t) => {
    t.match(await revert(), { status: 409, body: { message: `the rollout is reverted by ${id}.` } });
    t.match(await act(id, 'revert'), { status: 409, body: { message: `the rollout is the revert of ${rolloutId}.` } });
    t.match(await act(rolloutId, 'retry-failed'), { status: 409 });
    const { body } = await tenant.api.get(`${tenant.path}/audit`);
    t.match(JSON.stringify(body), `/rollouts/${rolloutId}/revert`);
  });
});

t.test('a revert stops the rollout: nobody gets the release after it', async (t) => {
  const { rolloutId, revert, commands, answer, ssidOf, read, devices, tenant, world } = await started(t, 5, {
    stages: [{ count: 2 }],
  });
  const first = [...(await commands())];
  t.equal(first.length, 2);
  const [[done, command], [busy]] = first as [(typeof first)[0], (typeof first)[0]];
  await answer(done, command);

  const made = await revert();
  const known = [done, busy].filter((deviceId) => deviceId !== devices.at(-1)!.deviceId);
  t.match(made, { status: 201, body: { devices: 2 } }, 'the one that has it, and the one that carries it out');
  t.match(await read(rolloutId), { state: 'cancelled', counts: { succeeded: 1, cancelled: 4 } });
  const { body } = await tenant.api.get(`${tenant.path}/devices/${busy}/transactions?limit=2`);
  t.match(
    body.transactions.map(({ status }: { status: string }) => status).includes('cancelled'),
    true,
    'the command in progress is cancelled first',
  );
  // A cancel comes before the command of the revert.
  const link = world && devices.find(({ deviceId }) => deviceId === busy)!.link;
  t.equal((await link.command()).operation, 'cancel');
  const back = await commands();
  t.same([...back.keys()].sort(), known.sort());
  for (const [deviceId, each] of back) t.equal(ssidOf(each), `of-${deviceId}`);
});

t.test('a device that got a later command in the place of the rollout’s keeps what that gave it', async (t) => {
  const { rolloutId, devices, set, commands, answer, revert, read, members, world } = await started(t, 5);
  for (const [deviceId, command] of await commands()) await answer(deviceId, command);
  const [changed, changing, ...others] = devices.map(({ deviceId }) => deviceId).slice(0, -1) as [string, string];
  await set(changed, 'by-a-person');
  for (const [deviceId, command] of await commands()) await answer(deviceId, command);
  await set(changing, 'by-a-person');
  await commands();

  const made = await revert({ ratePerMinute: 1 });
  t.match(made.body, {
    devices: 5,
    leftOut: [
      { code: 'FORMER_UNKNOWN', devices: 1 },
      { code: 'SUPERSEDED', devices: 2 },
    ],
  });
  const { rolloutId: id } = made.body;
  const waiting = (await members(id, 'state=waiting')).map(({ deviceId }) => deviceId);
  const late = (others as string[]).find((deviceId) => waiting.includes(deviceId))!;
  await set(late, 'after-the-revert');
  for (let minute = 0; minute < 6; minute += 1) {
    world.clock.advance(60_000);
    await world.idle();
  }
  const refused = (await members(id, 'state=refused&code=SUPERSEDED')).map(({ deviceId }) => deviceId);
  t.same(refused.sort(), [changed, changing, late].sort(), 'also one that came before its turn');
  t.match(await read(rolloutId), { counts: { succeeded: 5 } });
});

t.test('devices that answered that they had failed are brought back by choice', async (t) => {
  for (const failed of [false, true]) {
    const { devices, commands, answer, revert } = await started(t, 3);
    const known = devices[0]!.deviceId;
    for (const [deviceId, command] of await commands())
      await answer(deviceId, command, deviceId === known ? 'NO_SUCH_NETWORK' : undefined);
    const { body } = await revert({ failed });
    t.match(body, { devices: failed ? 3 : 2 });
    t.equal((await commands()).has(known), failed);
  }
});

t.test('another command of the same rollout does not hide what a device had before it', async (t) => {
  const { rolloutId, world, devices, commands, answer, act, revert, ssidOf } = await started(t, 2, {
    confirm: { seenAgainWithin: 60 },
  });
  const first = devices[0]!;
  for (const [deviceId, command] of await commands()) await answer(deviceId, command);
  for (let passed = 0; passed < 500_000; passed += 10_000) {
    world.clock.advance(10_000);
    await world.idle();
  }
  t.match(await act(rolloutId, 'retry-failed'), { body: { devices: 2 } }, 'they were silent');
  for (const [deviceId, command] of await commands()) {
    t.equal(ssidOf(command), 'new');
    await answer(deviceId, command);
  }
  await revert();
  t.equal(ssidOf((await commands()).get(first.deviceId)!), `of-${first.deviceId}`);
});

t.test('a late success of the same rollout does not hide what a device had before it', async (t) => {
  const { rolloutId, world, devices, commands, answer, act, revert, ssidOf } = await started(t, 2, {
    answerWithin: 60,
  });
  const first = devices[0]!;
  const late = (await commands()).get(first.deviceId)!;
  await pass(world, 70_000);
  for (const { link } of devices) t.equal((await link.command()).operation, 'cancel');
  t.match(await act(rolloutId, 'retry-failed'), { body: { devices: 2 } });
  const second = (await commands()).get(first.deviceId)!;
  await answer(first.deviceId, late);
  await answer(first.deviceId, second, 'BROKEN');
  await act(rolloutId, 'retry-failed');
  for (const [deviceId, command] of await commands()) await answer(deviceId, command);
  await revert();
  t.equal(ssidOf((await commands()).get(first.deviceId)!), `of-${first.deviceId}`);
});

t.test('a late success of another command leaves unknown what a device had', async (t) => {
  const { tenant, world, devices, commands, answer, start, act, set, members } = await started(t, 2);
  const first = devices[0]!;
  for (const [deviceId, command] of await commands()) await answer(deviceId, command);
  const answered = await tenant.api.put(`${first.path}/settings/wifi?answerWithin=60`, {
    json: [{ ssid: 'forgotten', password: 'secret-of-it', security: 'WPA2' }],
  });
  t.equal(answered.status, 201);
  const command = (await commands()).get(first.deviceId)!;
  await pass(world, 70_000);
  t.equal((await first.link.command()).operation, 'cancel');
  await answer(first.deviceId, command);
  const next = await start({ ...WIFI, parameters: [{ ssid: 'next', password: 'secret-of-next', security: 'WPA2' }] });
  for (const [deviceId, each] of await commands()) await answer(deviceId, each);
  const { body } = await act(next, 'revert');
  await world.idle();
  t.match(await members(body.rolloutId, 'state=refused&code=FORMER_UNKNOWN'), [{ deviceId: first.deviceId }]);
  await set(first.deviceId, 'known');
});

t.test('a revert goes on after a restart, and counts a device that was deactivated meanwhile', async (t) => {
  const { rolloutId, world, tenant, devices, commands, answer, revert, read, members } = await started(t, 4);
  for (const [deviceId, command] of await commands()) await answer(deviceId, command);
  const { body } = await revert({ ratePerMinute: 1 });
  const { rolloutId: id } = body;
  await commands();
  const waiting = (await members(id, 'state=waiting')).map(({ deviceId }) => deviceId);
  const gone = devices.slice(0, -1).find(({ deviceId }) => waiting.includes(deviceId))!;
  await tenant.api.delete(gone.path);
  const { transactionId } = await gone.link.command();
  await gone.link.ack({ transactionId, status: 'succeeded' });
  for (const { link } of devices) await link.drop();
  await world.restart();
  await tenant.renew();
  for (let minute = 0; minute < 6; minute += 1) {
    world.clock.advance(60_000);
    await world.idle();
  }
  const rows = await members(id, 'limit=100');
  t.match(
    rows.find(({ deviceId }) => deviceId === gone.deviceId),
    { state: 'refused', code: 'DEVICE_NOT_ACTIVATED' },
  );
  t.notOk(
    rows.some(({ state }) => state === 'waiting'),
    'the others have their commands',
  );
  t.match(await read(rolloutId), { revertedBy: id });
});

t.test('a revert that is repeated with its Idempotency-Key gets the first answer', async (t) => {
  const { rolloutId, tenant, world, commands, answer } = await started(t, 2);
  for (const [deviceId, command] of await commands()) await answer(deviceId, command);
  const ask = (json: object) =>
    tenant.api.post(`${tenant.path}/rollouts/${rolloutId}/revert`, { json, headers: { 'idempotency-key': 'back' } });
  const first = await ask({});
  await world.idle();
  t.match(await ask({}), { status: 201, body: first.body, headers: { 'idempotency-replayed': 'true' } });
  t.equal((await ask({ failed: true })).status, 422);
});

t.test('a rollout that gave nothing has nothing to revert', async (t) => {
  const { start, act, commands, answer, devices } = await startRollouts(t, 1);
  const scheduled = await start({ startAt: '2030-01-01T00:00:00Z' });
  t.match(await act(scheduled, 'revert'), {
    status: 409,
    body: { message: 'the rollout is scheduled, and has not started.' },
  });
  const rolloutId = await start();
  for (const [deviceId, command] of await commands()) await answer(deviceId, command, 'BROKEN');
  t.match(await act(rolloutId, 'revert'), {
    status: 409,
    body: { message: 'the rollout has no device to bring back: none has what the rollout gave.' },
  });
  t.match(await act(rolloutId, 'revert', { failed: true }), {
    status: 409,
    body: { message: 'the rollout has no device to bring back: of 1, their former settings are not known.' },
  });
  t.match(await act(rolloutId, 'revert', { version: '1.0.0' }), {
    status: 400,
    body: { details: [{ loc: ['body', 'version'], type: 'extra_forbidden' }] },
  });
  t.equal(devices.length, 1);
});

t.test('devices get the version that is registered as the way back', async (t) => {
  const { world, tenant, register, upload, versionPath, api, path } = await startSoftware(t);
  const name = 'com.example.back';
  await register(name, '1.0.0', '1.1.0', '1.1.1');
  for (const version of ['1.1.0', '1.1.1']) {
    await upload(name, version);
    await api.post(`${versionPath(name, version)}/distributions`);
  }
  const { link } = await world.activatedDevice(tenant);
  const parameters = { package: name, version: '1.1.0' };
  const { body } = await api.post(`${path}/rollouts`, {
    json: { operation: 'installSoftware', parameters, devices: {} },
  });
  const { transactionId } = await link.command();
  await link.ack({ transactionId, status: 'succeeded' });
  await world.idle();
  const revert = (json: object) => api.post(`${path}/rollouts/${body.rolloutId}/revert`, { json });

  t.match(await revert({}), {
    status: 409,
    body: {
      message: `no version is known that brings back ${name} 1.1.0: name it in \`version\`, or register one with \`revertOf\`.`,
    },
  });
  t.match(await revert({ version: '1.1.0' }), { status: 400, body: { details: [{ loc: ['body', 'version'] }] } });
  t.match(await revert({ version: '9.9.9' }), { status: 404 });
  const back = versionPath(name, '1.1.1');
  for (const revertOf of ['1.1.1', '7.0.0'])
    t.match(await api.patch(back, { json: { revertOf } }), {
      status: 400,
      body: { details: [{ loc: ['body', 'revertOf'] }] },
    });
  t.match(await api.patch(back, { json: { revertOf: '1.1.0' } }), { status: 200, body: { revertOf: '1.1.0' } });
  t.match(await api.patch(back, { json: { description: 'built again' } }), { body: { revertOf: '1.1.0' } });

  t.match(await revert({}), { status: 201, body: { devices: 1, leftOut: [] } });
  await world.idle();
  t.match(await link.command(), { operation: 'installSoftware', parameters: { package: name, version: '1.1.1' } });
  t.match((await api.patch(back, { json: { revertOf: null } })).body, { version: '1.1.1' });
});

for (const nodes of [1, 2])
  t.test(
    `no device keeps the release, whenever the revert comes; nodes: ${nodes}`,
    { skip: nodes > 1 && NO_POSTGRES },
    async (t) => {
      const { rolloutId, world, tenant, devices, act, ssidOf } = await started(t, 8, { ratePerMinute: 600 }, { nodes });
      const known = devices.slice(0, -1);
      /** The list that each device has, and the commands that it has taken. */
      const has = new Map(known.map(({ deviceId }) => [deviceId, `of-${deviceId}`]));
      const obey = async ({ deviceId, link }: (typeof devices)[0]): Promise<void> => {
        for (let command = await link.command(); ; command = await link.command()) {
          link.puback(command.packet);
          if (command.operation !== 'setWifi') continue;
          has.set(deviceId, ssidOf(command));
          await link.ack({ transactionId: command.transactionId, status: 'succeeded' });
        }
      };
      for (const device of known) obey(device).catch(() => undefined);
      world.clock.advance(300);
      await turn();
      const asked = act(rolloutId, 'revert', { ratePerMinute: 100_000 });
      world.clock.advance(200);
      const made = await asked;
      for (let second = 0; second < 20; second += 1) {
        world.clock.advance(1_000);
        await world.idle();
      }
      t.equal(made.status, 201);
      t.same(
        [...has.values()],
        known.map(({ deviceId }) => `of-${deviceId}`),
        'each has its own list again',
      );
      const { body } = await tenant.api.get(`${tenant.path}/rollouts/${made.body.rolloutId}`);
      t.equal(body.state, 'completed');
      t.equal((await tenant.api.get(`${tenant.path}/rollouts/${rolloutId}`)).body.state, 'cancelled');
    },
  );
