import t, { type Test } from 'tap';
import { NO_POSTGRES } from '../postgres/databases.ts';
import { startRollouts } from './rollout-world.ts';

type Rollouts = Awaited<ReturnType<typeof startRollouts>>;

/** The devices that have got a command of a rollout, and have not answered it. */
async function underWay({ world, devices, members }: Rollouts, rolloutId: string): Promise<string[]> {
  await world.idle();
  const unfinished = await members(rolloutId, 'state=unfinished&limit=1000');
  const has = new Set(unfinished.filter(({ code }) => code === null).map(({ deviceId }) => deviceId));
  return devices.map(({ deviceId }) => deviceId).filter((deviceId) => has.has(deviceId));
}

/** The bound holds in each database. */
for (const database of ['sqlite', 'postgres'] as const) {
  const skip = database === 'postgres' ? NO_POSTGRES : false;
  const begin = (t: Test, count: number): Promise<Rollouts> => startRollouts(t, count, { database });

  t.test(`${database}: a device holds a place from its command to its result`, { skip }, async (t) => {
    const all = await begin(t, 5);
    const { start, read, commands, answer, checkCounts, world } = all;
    const rolloutId = await start({ maxUnfinished: 2 });
    t.match(await read(rolloutId), { rules: { maxUnfinished: 2 }, counts: { unfinished: 2, waiting: 3 } });
    const sent = [...(await commands({ silent: true }))];
    t.equal(sent.length, 2, 'with or without a PUBACK, the device may be carrying it out');
    await all.device(sent[0]![0]).link.drop();
    world.clock.advance(60_000);
    t.equal((await commands()).size, 0, 'also when the device has gone with it');
    await answer(...sent[1]!, 'INTERNAL');
    const [next] = [...(await commands())];
    t.match(await read(rolloutId), { counts: { failed: 1, unfinished: 2, waiting: 2 } });
    await answer(...next!);
    for (let round = 0; round < 2; round += 1) {
      const now = [...(await commands())];
      t.equal(now.length, 1);
      await answer(...now[0]!);
    }
    t.match(await read(rolloutId), { counts: { succeeded: 3, failed: 1, unfinished: 1 } });
    await checkCounts(t, rolloutId);
    const { values } = await world.service.metrics.rolloutsFull.get();
    t.ok(values[0]!.value > 0, 'a metric counts the times without a free place');
  });

  t.test(
    `${database}: devices that are switched off hold no place, and get one when they come`,
    { skip },
    async (t) => {
      const all = await begin(t, 8);
      const { world, devices, start, read, answer, checkCounts, members } = all;
      const away = devices.slice(0, 6);
      for (const { link } of away) await link.drop();
      const rolloutId = await start({ maxUnfinished: 3, expireIn: 3600 });
      t.match(await read(rolloutId), { state: 'running', counts: { unfinished: 8, waiting: 0 } });
      t.same(
        await underWay(all, rolloutId),
        devices.slice(6).map(({ deviceId }) => deviceId),
      );
      t.equal((await members(rolloutId, 'state=unfinished&code=NO_PLACE')).length, 6);

      for (const device of away) device.link = await world.connect(device);
      await world.idle();
      const done = new Set<string>();
      while (done.size < 8) {
        const now = await underWay(all, rolloutId);
        const got = devices.filter(({ deviceId, link }) => !done.has(deviceId) && link.pending('publish').length > 0);
        t.equal(now.length, Math.min(3, 8 - done.size), 'as many as may be');
        t.same(
          got.map(({ deviceId }) => deviceId),
          now,
          'and no other device got its command',
        );
        const [first] = got;
        const command = await first!.link.command();
        first!.link.puback(command.packet);
        await answer(first!.deviceId, command);
        done.add(first!.deviceId);
      }
      t.match(await read(rolloutId), { state: 'completed', counts: { succeeded: 8 } });
      await checkCounts(t, rolloutId);
    },
  );

  t.test(`${database}: a place is taken back from a command that its device never got`, { skip }, async (t) => {
    const all = await begin(t, 2);
    const { world, tenant, devices, start, read, checkCounts, answer } = all;
    const [one, other] = devices as [(typeof devices)[0], (typeof devices)[0]];
    // So many unacknowledged commands let no other command out.
    for (const { path } of devices)
      for (let count = 0; count < 16; count += 1)
        t.equal((await tenant.api.put(`${path}/settings/lang`, { json: { lang: 'en' } })).status, 201);
    const rolloutId = await start({ maxUnfinished: 1, expireIn: 3600 });
    const [first] = await underWay(all, rolloutId);
    const [gone, next] = first === one.deviceId ? [one, other] : [other, one];
    t.match(await read(rolloutId), { counts: { unfinished: 1, waiting: 1 } });
    await gone.link.drop();
    for (let look = 0; look < 2; look += 1) {
      await world.idle();
      world.clock.advance(10_000);
    }
    t.same(await underWay(all, rolloutId), [next.deviceId], 'the next device has the place');
    t.match(await read(rolloutId), { counts: { unfinished: 2, waiting: 0 } });

    gone.link = await world.connect(gone);
    for (const { link } of [gone, next])
      for (let count = 0; count < 16; count += 1) {
        const command = await link.command();
        link.puback(command.packet);
        await link.ack({ transactionId: command.transactionId, status: 'succeeded' });
      }
    await world.idle();
    t.equal(gone.link.pending('publish').length, 0);
    const command = await next.link.command();
    await answer(next.deviceId, command);
    const last = await gone.link.command();
    await answer(gone.deviceId, last);
    t.match(await read(rolloutId), { state: 'completed', counts: { succeeded: 2 } });
    await checkCounts(t, rolloutId);
  });

  t.test(`${database}: the places of a paused rollout stay those of the published commands`, { skip }, async (t) => {
    const all = await begin(t, 4);
    const { world, devices, start, read, act, commands, answer, checkCounts } = all;
    await devices[0]!.link.drop();
    const rolloutId = await start({ maxUnfinished: 2 });
    const sent = [...(await commands())];
    t.equal(sent.length, 2);
    await act(rolloutId, 'pause');
    await world.idle();
    t.match(await read(rolloutId), { state: 'paused', counts: { unfinished: 2, waiting: 2 } });
    await act(rolloutId, 'resume');
    await world.idle();
    t.equal((await underWay(all, rolloutId)).length, 2);
    devices[0]!.link = await world.connect(devices[0]!);
    await world.idle();
    t.equal(devices[0]!.link.pending('publish').length, 0);
    for (const one of sent) await answer(...one);
    for (const one of await commands()) await answer(...one);
    t.match(await read(rolloutId), { state: 'completed', counts: { succeeded: 4 } });
    await checkCounts(t, rolloutId);
  });
}

t.test('after a restart no place is given twice', async (t) => {
  const all = await startRollouts(t, 4, { database: 'sqlite' });
  const { world, devices, start, read } = all;
  for (const { link } of devices.slice(0, 2)) await link.drop();
  const rolloutId = await start({ maxUnfinished: 2 });
  const before = await underWay(all, rolloutId);
  t.equal(before.length, 2);
  await world.restart();
  await all.tenant.renew();
  for (const device of devices) device.link = await world.connect(device);
  t.same(await underWay(all, rolloutId), before);
  t.equal(devices.filter(({ link }) => link.pending('publish').length > 0).length, 2);
  t.match(await read(rolloutId), { counts: { succeeded: 0 } });
});

t.test('a rollout with an abort rule has a bound, which can be changed and removed', async (t) => {
  const { tenant, start, read } = await startRollouts(t, 1);
  const later = { startAt: '2026-11-21T00:00:00Z' };
  t.notHas((await read(await start(later))).rules, { maxUnfinished: 100 });
  const rolloutId = await start({ ...later, abort: { failedPercent: 10, minimumResults: 1 } });
  t.match((await read(rolloutId)).rules, { maxUnfinished: 100 });
  const patch = (json: object) => tenant.api.patch(`${tenant.path}/rollouts/${rolloutId}`, { json });
  t.match(await patch({ maxUnfinished: 5 }), { status: 200, body: { rules: { maxUnfinished: 5 } } });
  t.match(await patch({ maxUnfinished: 0 }), { status: 400, body: { details: [{ loc: ['body', 'maxUnfinished'] }] } });
  t.equal((await patch({ maxUnfinished: null })).status, 200);
  t.notOk('maxUnfinished' in (await read(rolloutId)).rules);
});

t.test('on two nodes the bound holds for the devices of both', { skip: NO_POSTGRES }, async (t) => {
  const all = await startRollouts(t, 4, { nodes: 2 });
  const { world, devices, start, read, answer } = all;
  for (const { link } of devices) await link.drop();
  const rolloutId = await start({ maxUnfinished: 1, expireIn: 36_000 });
  const reached = async (wanted: () => Promise<boolean>): Promise<void> => {
    for (let second = 0; second < 120 && !(await wanted()); second += 1) {
      world.clock.advance(1_000);
      await world.idle();
    }
    t.ok(await wanted());
  };
  await reached(async () => (await read(rolloutId)).counts.unfinished === 4);
  for (const [index, device] of devices.entries()) device.link = await world.connect({ ...device, node: index % 2 });
  const got = () => devices.filter(({ link }) => link.pending('publish').length > 0);
  for (let count = 0; count < 4; count += 1) {
    await reached(async () => got().length > 0);
    t.equal(got().length, 1, 'one device at a time');
    const [one] = got();
    const command = await one!.link.command();
    one!.link.puback(command.packet);
    await answer(one!.deviceId, command);
  }
  await reached(async () => (await read(rolloutId)).state === 'completed');
});

t.test('a command that waited for a place never comes after a newer one of its device', async (t) => {
  const { world, tenant, devices, start, read, answer } = await startRollouts(t, 2);
  const [busy, away] = [devices[0]!, devices[1]!];
  await away.link.drop();
  const retry = { codes: ['BUSY'], attempts: 2, after: 0 };
  const rolloutId = await start({ maxUnfinished: 1, preferConnected: true, retry });
  t.match(await read(rolloutId), { counts: { unfinished: 2 } }, 'the one that is away waits for a place');
  const { body } = await tenant.api.put(`${away.path}/settings/wifi`, { json: [{ ssid: 'depot', security: 'OPEN' }] });
  away.link = await world.connect(away);
  const newer = await away.link.command();
  t.equal(newer.transactionId, body.transactionId);
  away.link.puback(newer.packet);
  await away.link.ack({ transactionId: newer.transactionId, status: 'succeeded' });
  const first = await busy.link.command();
  busy.link.puback(first.packet);
  await answer(busy.deviceId, first);
  const last = await away.link.command();
  t.equal(last.operation, 'setLanguage');
  t.ok(last.transactionId > newer.transactionId, 'it is made anew, with a higher number');
  away.link.puback(last.packet);
  await answer(away.deviceId, last, 'BUSY');
  const second = await away.link.command();
  away.link.puback(second.packet);
  await answer(away.deviceId, second);
  t.match(await read(rolloutId), { state: 'completed', counts: { succeeded: 2 } });
});
