import t from 'tap';
import { startRollouts } from '../rollouts/rollout-world.ts';
import { soaking } from '../rollouts/soaking.ts';
import { startWorld, transactionIdOf, WIFI, type World } from '../world.ts';

/** Lets the slow look, which goes on every so many seconds, pass over everything twice. */
async function pass(world: World, seconds = 1): Promise<void> {
  for (let piece = 0; piece < 4; piece += 1) {
    world.clock.advance(seconds * 1_000);
    await world.idle();
    await world.admin().get('/admin/v1/overview'); // a round trip, in which the reads of the look end
  }
}

const readyz = (world: World) => world.anonymousAdmin().get('/readyz');

const countOf = async (world: World, what: string): Promise<number> =>
  (await world.service.metrics.overlooked.get()).values.find(({ labels }) => labels.what === what)?.value ?? 0;

t.test('a command whose wake-up was lost is told, and sent', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const device = await world.activatedDevice(tenant);
  await device.link.drop();
  const transactionId = transactionIdOf(await tenant.api.put(`${device.path}/settings/wifi`, { json: WIFI }));
  const raw = await world.raw();
  await raw.exec(`UPDATE transactions SET due = 0 WHERE transaction_id = ${transactionId}`);
  const link = await world.connect(device);
  await pass(world);
  t.equal(await countOf(world, 'commands'), 0);
  await raw.exec(`UPDATE transactions SET due = 1 WHERE transaction_id = ${transactionId}`);
  await pass(world);
  t.match(await link.command(), { transactionId });
  t.equal(await countOf(world, 'commands'), 1);
  t.same((await readyz(world)).body, { status: 'ok' }, 'it has moved');
});

t.test('a request and an answer whose wake-up was lost are told, and go on', async (t) => {
  const world = await startWorld(t);
  await world.createTenant();
  const device = await world.registerDevice();
  const link = await world.connect(device);
  const raw = await world.raw();
  const answer = async (): Promise<void> => {
    const packet = await link.next('publish');
    t.match(JSON.parse(packet.payload.toString()), { requestId: 'r' });
    link.puback(packet);
    link.send({ cmd: 'pingreq' });
    await link.next('pingresp');
    await world.idle();
  };
  link.publish('requests', { requestId: 'r', type: 'weather', data: {} });
  await answer();
  await pass(world);
  for (const [what, column] of [
    ['responses', ''],
    ['requests', 'answer = NULL, '],
  ] as const) {
    t.equal(await countOf(world, what), 0);
    await raw.exec(`UPDATE device_requests SET ${column}done_at = NULL`);
    await pass(world);
    await answer();
    t.equal(await countOf(world, what), 1);
  }
});

t.test('a webhook whose wake-up was lost is told, and sent', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const device = await world.activatedDevice(tenant);
  await world.idle();
  const before = tenant.receiver.requests.length;
  const raw = await world.raw();
  await pass(world);
  await raw.exec(`UPDATE deliveries SET status = 'pending', next_attempt_at = ${world.clock.now() - 60_000_000}
    WHERE device_id = '${device.deviceId}'`);
  t.equal(await countOf(world, 'webhooks'), 0);
  await pass(world);
  t.equal(tenant.receiver.requests.length, before + 1);
  t.equal(await countOf(world, 'webhooks'), 1);
  await pass(world);
  t.equal(await countOf(world, 'webhooks'), 1);
});

t.test('webhooks that wait for a receiver that is down, or holds them, are not told as overlooked', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const device = await world.activatedDevice(tenant);
  await world.idle();
  tenant.receiver.answer({ status: 503 });
  for (let each = 0; each < 20; each += 1) {
    device.link.publish('events', { type: 'sos', occurredAt: new Date().toISOString(), data: {} });
    await device.link.next('puback');
  }
  for (let each = 0; each < 6; each += 1) await pass(world);
  tenant.receiver.answer({ hang: true });
  for (let each = 0; each < 6; each += 1) await pass(world);
  t.equal(await countOf(world, 'webhooks'), 0);
});

t.test('a command whose end was not looked at is told, and expires', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const device = await world.activatedDevice(tenant);
  await device.link.drop();
  const answer = await tenant.api.put(`${device.path}/settings/wifi?expireIn=86400`, { json: WIFI });
  const transactionId = transactionIdOf(answer);
  await pass(world, 10);
  const raw = await world.raw();
  const ended = world.clock.now() - 60_000_000;
  await raw.exec(
    `UPDATE transactions SET ends_at = ${ended}, expires_at = ${ended} WHERE transaction_id = ${transactionId}`,
  );
  t.equal(await countOf(world, 'expiry'), 0);
  await pass(world, 10);
  t.match((await tenant.api.get(`${device.path}/transactions/${transactionId}`)).body, {
    status: 'failed',
    error: { code: 'EXPIRED' },
  });
  t.equal(await countOf(world, 'expiry'), 1);
});

t.test('a rollout whose next step was not looked at is told, and goes on', async (t) => {
  const { world, start, commands, answer, devices } = await startRollouts(t, 1);
  const deviceId = devices[0]?.deviceId ?? '';
  const rolloutId = await start({ retry: { codes: ['BUSY'], attempts: 2, after: 3_600 } });
  const command = (await commands()).get(deviceId);
  if (!command) throw new Error('no command was sent');
  await answer(deviceId, command, 'BUSY');
  const raw = await world.raw();
  await raw.exec(`UPDATE rollout_members SET not_before = 0 WHERE rollout_id = '${rolloutId}'`);
  t.equal(await countOf(world, 'rollouts'), 0);
  await pass(world, 10);
  t.equal((await commands()).size, 1);
  t.equal(await countOf(world, 'rollouts'), 1);
});

t.test('a rollout that waits for its pace, its window or its devices is not told as overlooked', async (t) => {
  const { world, start, act } = await startRollouts(t, 4);
  await start({ ratePerMinute: 1 });
  await start({ window: { from: '00:00', to: '00:01', timeZone: 'UTC' } });
  await start({ startAt: new Date(world.clock.now() / 1_000 + 3_600_000).toISOString() });
  await act(await start(), 'pause');
  for (let each = 0; each < 5; each += 1) await pass(world, 10);
  t.equal(await countOf(world, 'rollouts'), 0);
});

t.test('devices that the service should bring back, and nobody does, are told, and go back', async (t) => {
  const rule = { measure: 'silent', atMost: 20, minimumDevices: 2, within: 600 };
  const more = { before: { lang: 'fr' }, revert: 'automatic' } as const;
  const { world, rolloutId, shown } = await soaking(t, 2, 1, [rule], undefined, more);
  await pass(world, 10);
  const raw = await world.raw();
  // A health rule has stopped it, its commands are taken back, and the wake-up after this was lost.
  await raw.exec(`UPDATE rollouts SET state = 'paused', reason = 'HEALTH_RULE', publishes = 0
    WHERE rollout_id = '${rolloutId}'`);
  t.equal(await countOf(world, 'rollouts'), 0);
  await pass(world, 10);
  t.match(await shown(), { state: 'cancelled', history: [{ event: 'reverted', by: 'service' }] });
  t.equal(await countOf(world, 'rollouts'), 1);
});

t.test('a rollout that asks again every few seconds hides no other that is overlooked', async (t) => {
  const { world, start, commands, answer, devices } = await startRollouts(t, 3);
  const [first, ...others] = devices.map(({ deviceId }) => deviceId) as [string, ...string[]];
  const only = { devices: { devices: [first] } };
  const rolloutId = await start({ ...only, retry: { codes: ['BUSY'], attempts: 2, after: 3_600 } });
  const command = (await commands()).get(first)!;
  await answer(first, command, 'BUSY');
  // Its only place is taken, so it looks every ten seconds whether one is free.
  await start({ devices: { devices: others }, parameters: { lang: 'de' }, maxUnfinished: 1 });
  t.equal((await commands()).size, 1);
  for (let each = 0; each < 3; each += 1) await pass(world, 3);
  const raw = await world.raw();
  await raw.exec(`UPDATE rollout_members SET not_before = 0 WHERE rollout_id = '${rolloutId}'`);
  t.equal(await countOf(world, 'rollouts'), 0);
  for (let each = 0; each < 5; each += 1) await pass(world, 3);
  t.same([...(await commands()).keys()], [first]);
  t.equal(await countOf(world, 'rollouts'), 1);
});

t.test('webhooks that are due and sent by nobody are told in the readiness, and sent', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const send = () => tenant.api.post(`${tenant.path}/webhooks/test`, { json: { setting: 'deviceEvent' } });
  await send();
  await tenant.receiver.next();
  await world.idle();
  world.clock.advance(60_000);
  const raw = await world.raw();
  await raw.exec(`UPDATE deliveries SET status = 'pending', next_attempt_at = 0, attempts = 0`);
  const look = async (): Promise<void> => {
    world.clock.advance(30_000);
    await world.admin().get('/admin/v1/overview'); // a round trip, in which the reads of the look end
    await world.idle();
  };
  while ((await countOf(world, 'webhooks')) === 0) await look();
  const told = {
    status: 'ok',
    notes: [{ part: 'overlooked', reason: 'webhooks were due, and nobody had moved them' }],
  };
  t.same((await readyz(world)).body, told);
  await tenant.receiver.next();
  while ('notes' in (await readyz(world)).body) await look();
  t.equal(await countOf(world, 'webhooks'), 1);
});

t.test('a receiver that hangs, or fails, is no reason of the readiness', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  tenant.receiver.answer({ hang: true });
  for (let sent = 0; sent < 12; sent += 1)
    await tenant.api.post(`${tenant.path}/webhooks/test`, { json: { setting: 'deviceEvent' } });
  for (let looks = 0; looks < 6; looks += 1) {
    world.clock.advance(30_000);
    await world.admin().get('/admin/v1/overview');
    t.same((await readyz(world)).body, { status: 'ok' });
  }
  t.equal(await countOf(world, 'webhooks'), 0);
});
