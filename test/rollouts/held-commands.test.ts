import { Client } from 'pg';
import t, { type Test } from 'tap';
import { startSoftware } from '../api/software-world.ts';
import { NO_POSTGRES } from '../postgres/databases.ts';
import { until } from '../until.ts';
import { LANG, startRollouts } from './rollout-world.ts';

type Started = Awaited<ReturnType<typeof startRollouts>>;

/** The commands that have come to a device and that the test did not read yet, apart from what the service sends itself. */
const unread = ({ link }: Started['devices'][number]): number => link.pending('publish').length;

/** Lets the claims of commands get as far as their first write, until `release`. */
async function holdClaims(t: Test, { databaseUrl }: Started['world']) {
  const holder = new Client({ connectionString: databaseUrl as string });
  await holder.connect();
  t.teardown(() => holder.end());
  await holder.query('BEGIN; LOCK TABLE transactions IN SHARE MODE');
  return {
    /** Resolves when a claim waits. */
    begun: () => until(async () => (await holder.query('SELECT 1 FROM pg_locks WHERE NOT granted')).rows.length > 0),
    release: () => holder.query('COMMIT'),
  };
}

/** Lets seconds pass until a command comes: the node that leads, and lost hints, are looked after every few seconds. */
async function commandWithin(seconds: number, world: Started['world'], link: Started['devices'][number]['link']) {
  const command = link.command();
  for (let second = 0; second < seconds && link.pending('publish').length === 0; second += 1) {
    world.clock.advance(1_000);
    await world.idle();
  }
  return command;
}

t.test(
  'a published command that nobody has confirmed is held by a pause, and is the same after the resume',
  async (t) => {
    const { world, devices, start, read, commands, answer, act, members, checkCounts } = await startRollouts(t, 4);
    const rolloutId = await start();
    const sent = await commands({ silent: true });
    const [busy, lost, confirmed, early] = devices;
    confirmed!.link.puback(sent.get(confirmed!.deviceId)!.packet);
    await lost!.link.drop();
    await world.idle();
    t.equal((await act(rolloutId, 'pause')).status, 200);
    await world.idle();
    t.match(
      await read(rolloutId),
      { state: 'paused', counts: { unfinished: 4, waiting: 0 } },
      'a pause ends no command',
    );
    t.match(await members(rolloutId, 'state=unfinished'), [{}, {}, {}, {}]);
    await answer(early!.deviceId, sent.get(early!.deviceId)!);
    t.match((await read(rolloutId)).counts, { succeeded: 1, unfinished: 3 }, 'a result during the pause counts');

    const link = await world.connect(lost!);
    await world.idle();
    t.equal(link.pending('publish').length, 0, 'a device that comes back gets nothing during the pause');
    t.equal((await act(rolloutId, 'resume')).status, 200);
    await world.idle();
    const again = await link.command();
    t.match(
      again,
      { transactionId: sent.get(lost!.deviceId)!.transactionId, attempt: 2 },
      'the same command, once more',
    );
    t.equal(unread(busy!), 0, 'a device that has had it on this connection gets no other');
    await link.ack({ transactionId: again.transactionId, status: 'succeeded' });
    await answer(busy!.deviceId, sent.get(busy!.deviceId)!);
    await answer(confirmed!.deviceId, sent.get(confirmed!.deviceId)!);
    t.match(await read(rolloutId), { state: 'completed', counts: { succeeded: 4 } });
    for (const device of devices) t.equal(unread(device), 0, 'no device has got a second command');
    await checkCounts(t, rolloutId);
  },
);

t.test('a command whose PUBACK is not stored yet when its device connects again is repeated in a pause', async (t) => {
  const { world, devices, tenant, start, read, commands, act } = await startRollouts(t, 1);
  const [device] = devices;
  const rolloutId = await start();
  const sent = (await commands({ silent: true })).get(device!.deviceId)!;
  t.equal((await act(rolloutId, 'pause')).status, 200);
  device!.link.puback(sent.packet);
  device!.link.send({ cmd: 'pingreq' });
  await device!.link.next('pingresp'); // the PUBACK has come; no time passes, so it is known in memory only
  const link = await world.connect(device!);
  await tenant.api.put(`${device!.path}/settings/lang`, { json: { lang: 'fr' } });
  const again = await link.command();
  t.match(again, { transactionId: sent.transactionId, attempt: 2 }, 'a delivered command is not held back');
  await link.ack({ transactionId: sent.transactionId, status: 'succeeded' });
  await world.idle();
  t.match((await read(rolloutId)).counts, { succeeded: 1 });
});

t.test(
  'an install that was delivered before a pause is repeated on a new connection, and what is behind it',
  async (t) => {
    const { world, tenant, register, upload, versionPath } = await startSoftware(t);
    const device = await world.activatedDevice(tenant);
    const name = 'com.example.delivered';
    await register(name, '1.0.0');
    await upload(name, '1.0.0');
    await tenant.api.post(`${versionPath(name, '1.0.0')}/distributions`);
    const install = { operation: 'installSoftware', parameters: { package: name, version: '1.0.0' }, devices: {} };
    const sent: number[] = [];
    for (const json of [install, LANG]) {
      const { rolloutId } = (await tenant.api.post(`${tenant.path}/rollouts`, { json })).body;
      const { transactionId, packet } = await device.link.command();
      device.link.puback(packet);
      sent.push(transactionId);
      await world.idle();
      t.equal((await tenant.api.post(`${tenant.path}/rollouts/${rolloutId}/pause`)).status, 200);
    }
    await device.link.drop();
    await world.idle();
    const link = await world.connect(device);
    const { body } = await tenant.api.put(`${device.path}/settings/lang`, { json: { lang: 'fr' } });
    for (const transactionId of sent)
      if (!t.match(await link.command(), { transactionId, attempt: 2 }, 'a pause holds back no delivered command'))
        return;
    t.match(await link.command(), { transactionId: body.transactionId, attempt: 1 });
  },
);

t.test('a command that was never published disappears at a pause, and its device waits again', async (t) => {
  const { world, devices, start, read, commands, act, checkCounts } = await startRollouts(t, 2);
  await devices[0]!.link.drop();
  const rolloutId = await start();
  t.equal((await commands()).size, 1);
  await act(rolloutId, 'pause');
  await world.idle();
  t.match((await read(rolloutId)).counts, { waiting: 1, unfinished: 1 });
  await checkCounts(t, rolloutId);
  const link = await world.connect(devices[0]!);
  await act(rolloutId, 'resume');
  t.match(await link.command(), { operation: 'setLanguage', attempt: 1 });
});

t.test('a held command goes out again after several pauses, and behind commands that came meanwhile', async (t) => {
  const { world, devices, tenant, start, commands, act, read } = await startRollouts(t, 1);
  const [device] = devices;
  const rolloutId = await start();
  const { transactionId } = (await commands({ silent: true })).get(device!.deviceId)!;
  await device!.link.drop();
  await act(rolloutId, 'pause');
  await world.idle();
  const link = await world.connect(device!);
  const other = await tenant.api.put(`${device!.path}/settings/lang`, { json: { lang: 'fr' } });
  const newer = await link.command();
  t.equal(newer.transactionId, other.body.transactionId, 'a held command holds up no other');
  link.puback(newer.packet);
  await act(rolloutId, 'resume');
  t.match(await link.command(), { transactionId, attempt: 2 });
  await link.drop();
  await act(rolloutId, 'pause');
  await world.idle();
  const third = await world.connect(device!);
  t.match(await third.command(), { transactionId: newer.transactionId, attempt: 2 });
  await act(rolloutId, 'resume');
  t.match(await third.command(), { transactionId, attempt: 3 });
  await third.ack({ transactionId, status: 'succeeded' });
  await world.idle();
  t.match(await read(rolloutId), { state: 'completed', counts: { succeeded: 1 } });
});

t.test(
  'a held command that expires during the pause is a failure, and a late success counts all the same',
  async (t) => {
    const { world, devices, start, commands, act, read, checkCounts } = await startRollouts(t, 1);
    const rolloutId = await start({ expireIn: 60 });
    const { transactionId } = (await commands({ silent: true })).get(devices[0]!.deviceId)!;
    await act(rolloutId, 'pause');
    world.clock.advance(60_000);
    await world.idle();
    t.match(await read(rolloutId), { errors: [{ code: 'EXPIRED', devices: 1 }] });
    await devices[0]!.link.ack({ transactionId, status: 'succeeded' });
    await world.idle();
    t.match((await read(rolloutId)).counts, { succeeded: 1, failed: 0 }, 'the device has done it');
    await checkCounts(t, rolloutId);
  },
);

t.test('failed devices that wait again get no second command when their first result comes late', async (t) => {
  const { world, devices, start, commands, act, read } = await startRollouts(t, 1);
  const rolloutId = await start({ expireIn: 60 });
  const { transactionId } = (await commands({ silent: true })).get(devices[0]!.deviceId)!;
  await act(rolloutId, 'pause');
  world.clock.advance(60_000);
  await world.idle();
  t.match((await read(rolloutId)).counts, { failed: 1 });
  const away = devices[0]!;
  t.equal((await away.link.command()).operation, 'cancel');
  t.equal((await act(rolloutId, 'retry-failed')).status, 200);
  await world.idle();
  t.match((await read(rolloutId)).counts, { waiting: 1 });
  await away.link.ack({ transactionId, status: 'succeeded' });
  await world.idle();
  await act(rolloutId, 'resume');
  await world.idle();
  t.match((await read(rolloutId)).counts, { succeeded: 1, waiting: 0 });
  t.equal(unread(away), 0);
});

t.test(
  'failed devices that wait again get the command that somebody asked for, also after a late failure',
  async (t) => {
    const { world, devices, start, commands, act, read, checkCounts } = await startRollouts(t, 1);
    const rolloutId = await start({ expireIn: 60 });
    const { link, deviceId } = devices[0]!;
    const { transactionId } = (await commands({ silent: true })).get(deviceId)!;
    await act(rolloutId, 'pause');
    world.clock.advance(60_000);
    await world.idle();
    t.equal((await link.command()).operation, 'cancel');
    await act(rolloutId, 'retry-failed');
    await world.idle();
    await link.ack({ transactionId, status: 'failed', error: { code: 'BUSY', message: 'x' } });
    await world.idle();
    if (!t.match((await read(rolloutId)).counts, { waiting: 1, failed: 0 })) return;
    await checkCounts(t, rolloutId);
    await act(rolloutId, 'resume');
    const again = await link.command();
    t.not(again.transactionId, transactionId);
    await link.ack({ transactionId: again.transactionId, status: 'succeeded' });
    await world.idle();
    t.match((await read(rolloutId)).counts, { succeeded: 1 });
  },
);

t.test('the result of a command that was cancelled after it was published is kept', async (t) => {
  const { world, tenant, devices, start, commands, read } = await startRollouts(t, 2);
  const [device, other] = devices;
  const { body } = await tenant.api.put(`${device!.path}/settings/lang`, { json: { lang: 'fr' } });
  const { transactionId } = await device!.link.command();
  t.equal(transactionId, body.transactionId);
  t.equal((await tenant.api.delete(`${device!.path}/transactions/${transactionId}`)).status, 204);
  await device!.link.ack({ transactionId, status: 'succeeded' });
  await world.idle();
  const record = (await tenant.api.get(`${device!.path}/transactions/${transactionId}`)).body;
  t.match(record, { status: 'cancelled', late: { status: 'succeeded' } }, 'people see that it was done');

  const rolloutId = await start({ devices: {} });
  const sent = await commands({ silent: true });
  await tenant.api.delete(`${tenant.path}/rollouts/${rolloutId}`);
  await world.idle();
  const mine = sent.get(other!.deviceId)!;
  await other!.link.ack({ transactionId: mine.transactionId, status: 'succeeded' });
  await world.idle();
  t.match((await read(rolloutId)).counts, { succeeded: 1, cancelled: 1 }, 'a cancelled rollout counts what was done');
});

t.test('a held command goes out from the node to which its device has moved', { skip: NO_POSTGRES }, async (t) => {
  const { world, devices, start, commands, act, read } = await startRollouts(t, 1, { nodes: 2 });
  const [device] = devices;
  const rolloutId = await start();
  const { transactionId } = (await commands({ silent: true })).get(device!.deviceId)!;
  await act(rolloutId, 'pause');
  await world.idle();
  const link = await world.connect({ ...device!, node: 1 });
  await world.idle();
  t.equal(link.pending('publish').length, 0);
  await act(rolloutId, 'resume');
  t.match(await commandWithin(20, world, link), { transactionId, attempt: 2 });
  await link.ack({ transactionId, status: 'succeeded' });
  await world.idle();
  t.match((await read(rolloutId)).counts, { succeeded: 1 });
});

t.test(
  'a command that is claimed while its rollout is paused elsewhere is not published',
  { skip: NO_POSTGRES },
  async (t) => {
    const { world, tenant, devices, start, read } = await startRollouts(t, 1, { nodes: 2 });
    const [device] = devices;
    await device!.link.drop();
    const rolloutId = await start();
    const elsewhere = await tenant.at(1);

    const claims = await holdClaims(t, world);
    const link = await world.connect(device!);
    await claims.begun();
    t.equal((await elsewhere.post(`${tenant.path}/rollouts/${rolloutId}/pause`)).status, 200);
    await claims.release();
    await world.idle();
    t.equal(link.pending('publish').length, 0, 'the pause was first');

    t.equal((await elsewhere.post(`${tenant.path}/rollouts/${rolloutId}/resume`)).status, 200);
    const { transactionId, attempt } = await commandWithin(20, world, link);
    t.equal(attempt, 1);
    await link.ack({ transactionId, status: 'succeeded' });
    await world.idle();
    t.equal(link.pending('publish').length, 0, 'the device has got one command');
    t.match(await read(rolloutId), { state: 'completed', counts: { succeeded: 1 } });
  },
);

t.test(
  'a held command whose rollout is paused elsewhere while it is claimed goes out after the next resume',
  { skip: NO_POSTGRES },
  async (t) => {
    const { world, tenant, devices, start, commands, act } = await startRollouts(t, 1, { nodes: 2 });
    const [device] = devices;
    const rolloutId = await start();
    const { transactionId } = (await commands({ silent: true })).get(device!.deviceId)!;
    await device!.link.drop();
    await act(rolloutId, 'pause');
    await world.idle();
    const link = await world.connect(device!);
    await world.idle();
    const elsewhere = await tenant.at(1);

    const claims = await holdClaims(t, world);
    t.equal((await act(rolloutId, 'resume')).status, 200);
    await claims.begun();
    t.equal((await elsewhere.post(`${tenant.path}/rollouts/${rolloutId}/pause`)).status, 200);
    await claims.release();
    await world.idle();
    t.equal(link.pending('publish').length, 0, 'the pause was first');

    t.equal((await elsewhere.post(`${tenant.path}/rollouts/${rolloutId}/resume`)).status, 200);
    t.match(await commandWithin(20, world, link), { transactionId, attempt: 2 });
  },
);
