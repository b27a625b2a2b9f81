import { EventEmitter, once } from 'node:events';
import { isDeepStrictEqual } from 'node:util';
import { createChances } from '@lapel/device-sim/faults/chances';
import { scheduleAbsences } from '@lapel/device-sim/fleet/absences';
import { deviceIdFor } from '@lapel/device-sim/fleet/device-ids';
import { createFleet } from '@lapel/device-sim/fleet/fleet';
import { oneGroup, shardOf } from '@lapel/device-sim/fleet/member';
import { createPacer } from '@lapel/device-sim/fleet/pacer';
import type { Device } from '@lapel/device-sim/model/device';
import t from 'tap';
import { startFileServer } from '../files/file-server.ts';
import { handTimers } from '../hand-timers.ts';
import { command, startBroker, wifi } from '../plain-broker.ts';

const accounts = Array.from({ length: 5 }, (_, index) => ({ deviceId: deviceIdFor(1, index), credential: 'secret' }));

t.test('a fleet connects, answers commands, and counts them', async (t) => {
  await using broker = await startBroker();
  await using fleet = createFleet({ members: oneGroup(accounts), url: broker.url });
  t.strictSame(await fleet.connect(), []);
  t.match(fleet.counts(), { devices: 5, connected: 5, connections: 5, commands: 0 });
  const acknowledged = fleet.devices.map(({ events }) => once(events, 'acknowledged'));
  for (const { deviceId } of accounts) broker.send(deviceId, command(1, 'setWifi', wifi('office')));
  await Promise.all(acknowledged);
  await fleet.idle();
  t.match(fleet.counts(), { commands: 5, answers: 5, acknowledged: 5, failures: 0, outstanding: 0, violations: 0 });
  await fleet.disconnect();
  t.match(fleet.counts(), { connected: 0, losses: 0 });
});

t.test('a fleet counts its downloads, and reports them', async (t) => {
  const content = Buffer.alloc(3 * 1024 ** 2);
  await using broker = await startBroker();
  await using server = await startFileServer(content);
  await using fleet = createFleet({
    members: oneGroup(accounts, { equipment: { storage: content.length } }),
    url: broker.url,
    downloadFolder: t.testdir(),
  });
  await fleet.connect();
  const parameters = { package: 'com.lapel.firmware', version: '9.002.0', ...server.source() };
  const acknowledged = fleet.devices.map(({ events }) => once(events, 'acknowledged'));
  for (const { deviceId } of accounts) broker.send(deviceId, command(1, 'updateFirmware', parameters));
  await Promise.all(acknowledged);
  const counts = fleet.counts();
  t.match(counts, { downloads: 5, downloadedBytes: 5 * content.length, resumed: 0, renewed: 0, failures: 0 });
});

t.test('devices that are refused are named, and the others connect', async (t) => {
  await using broker = await startBroker({ password: 'secret' });
  const [bad, ...good] = accounts;
  const list = [{ deviceId: bad?.deviceId ?? '', credential: 'wrong' }, ...good];
  await using fleet = createFleet({ members: oneGroup(list), url: broker.url });
  const givenUp = await fleet.connect();
  t.match(givenUp, [{ deviceId: bad?.deviceId, error: { message: /Bad username or password/ } }]);
  t.match(fleet.counts(), { connected: 4, connectFailures: 1 });
});

t.test('connections are no faster than the rate', async (t) => {
  const timers = handTimers();
  const pacer = createPacer({ perSecond: 10, atOnce: 100, timers });
  const times: number[] = [];
  const turns = Array.from({ length: 4 }, () => pacer.turn().then(() => times.push(timers.now())));
  await turns[0];
  while ((await timers.next()) !== undefined);
  await Promise.all(turns);
  t.strictSame(times, [0, 100, 200, 300]);
});

t.test('a late caller makes up for a tenth of a second of turns, within the bound of turns at a time', async (t) => {
  const timers = handTimers();
  const pacer = createPacer({ perSecond: 1000, atOnce: 150, timers });
  const times: number[] = [];
  const ends: (() => void)[] = [];
  const turns = Array.from({ length: 250 }, async () => {
    ends.push(await pacer.turn());
    times.push(timers.now());
  });
  await turns[0];
  timers.elapse(500);
  await timers.next();
  t.equal(times.filter((time) => time === 500).length, 101);
  while ((await timers.next()) !== undefined);
  t.equal(times.length, 150);
  for (const end of ends.splice(0)) end();
  while ((await timers.next()) !== undefined);
  await Promise.all(turns);
  pacer.setRate(null);
  const more = Array.from({ length: 40 }, () => pacer.turn());
  await Promise.all(more);
  t.ok(true, 'without a rate everyone has a turn at once');
});

t.test('callers that wait for a turn are released when the fleet goes offline', async (t) => {
  const pacer = createPacer({ perSecond: 0.001, atOnce: 100, timers: handTimers() });
  await pacer.turn();
  const turn = pacer.turn();
  pacer.release();
  await t.resolves(turn);
});

t.test('absences take the wanted share of the time, repeat for a seed, and end', async (t) => {
  const course = async (seed: number) => {
    const timers = handTimers();
    const log: [string, number][] = [];
    const note = (what: string) => async () => {
      log.push([what, timers.now()]);
    };
    const device = {
      events: new EventEmitter(),
      connect: note('back'),
      disconnect: note('away'),
      drop: note('dropped'),
    } as unknown as Device;
    const stop = scheduleAbsences({
      device,
      absence: { share: 0.25, window: { min: 500, max: 1500 } },
      chances: createChances({ seed, device: 0 }),
      timers,
      onFailure: t.fail,
    });
    while (log.length < 1000) await timers.next();
    stop();
    t.equal(await timers.next(), undefined, 'nothing more is planned');
    return log;
  };
  const log = await course(9);
  t.strictSame(await course(9), log);
  t.notOk(isDeepStrictEqual(await course(10), log));
  let away = 0;
  for (let n = 0; n + 1 < log.length; n += 2) away += (log[n + 1]?.[1] ?? 0) - (log[n]?.[1] ?? 0);
  const share = away / (log.at(-1)?.[1] ?? 1);
  t.ok(share > 0.2 && share < 0.3, `away for ${share} of the time`);
  t.strictSame(new Set(log.map(([what]) => what)), new Set(['away', 'dropped', 'back']));
});

t.test('groups have their own settings, and go offline and come back on request', async (t) => {
  await using broker = await startBroker();
  const settings = [
    { group: 'day', equipment: { lang: 'de' } },
    { group: 'night', behaviour: { failureRate: 1 } },
  ] as const;
  const many = Array.from({ length: 12 }, (_, place) => ({
    account: { deviceId: deviceIdFor(1, place), credential: 'secret' },
    place,
    settings: settings[place % 2]!,
  }));
  await using fleet = createFleet({ members: many, url: broker.url });
  const told: string[] = [];
  fleet.events.on('offline', ({ deviceId }, _reason, expected) => told.push(`${deviceId} ${expected}`));
  await fleet.connect({ groups: ['night'] });
  const online = () => fleet.devices.map((device) => (device.online ? 1 : 0)).join('');
  t.equal(online(), '010101010101');
  await fleet.connect({ rate: 1000 });
  t.equal(fleet.counts().connections, 12, 'those who are there stay as they are');
  t.equal(fleet.devices[0]?.state.lang, 'de');

  for (const { deviceId } of fleet.devices) broker.send(deviceId, command(1, 'setWifi', wifi('office')));
  await broker.acksAre(12);
  t.equal(broker.acks.filter(({ status }) => status === 'failed').length, 6);
  await fleet.idle();

  const part = { groups: ['day'], share: 0.5, occasion: 3 };
  t.equal(await fleet.away({ ...part, how: 'cut' }), 3);
  const gone = online();
  t.equal(told.length, 3);
  t.match(told, [/ true$/, / true$/, / true$/]);
  await fleet.connect(part);
  t.equal(online(), '111111111111', 'the same ones come back');
  await fleet.away({ ...part, how: 'politely' });
  t.equal(online(), gone);
  await fleet.away({ ...part, occasion: 4 });
  t.not(online(), gone);
  t.match(fleet.counts(), { losses: 0, violations: 0 });
});

t.test('the shards of a fleet cover all of it, and each device is the same as without shards', async (t) => {
  const whole = oneGroup(accounts, { oldFirmware: 0.5 });
  const shards = [1, 2, 3].map((index) => shardOf(whole, { index, count: 3 }));
  t.strictSame(
    shards.flat().toSorted((a, b) => a.place - b.place),
    whole,
  );
  t.strictSame(
    shards.map(({ length }) => length),
    [2, 2, 1],
  );
});

t.test('processes that share a fleet connect at the rate all together', async (t) => {
  const timers = handTimers();
  await using broker = await startBroker();
  await using fleet = createFleet({
    members: oneGroup(accounts),
    url: broker.url,
    processes: 2,
    connectRate: 10,
    timers,
  });
  const connected = fleet.connect({ rate: 20 });
  await once(fleet.events, 'online');
  t.equal(await timers.next(), 100);
  await once(fleet.events, 'online');
  t.equal(await timers.next(), 200);
  await Promise.all([fleet.disconnect(), connected]);
});
