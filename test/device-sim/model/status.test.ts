import { type Life, letLive, quietLife } from '@lapel/device-sim/fleet/life';
import { scheduleHappenings, scheduleRounds } from '@lapel/device-sim/fleet/scheduled-events';
import { createBattery } from '@lapel/device-sim/model/battery';
import type { CallPlan } from '@lapel/device-sim/model/calls';
import { createDevice, type Device } from '@lapel/device-sim/model/device';
import { createRandom, deriveSeed } from '@lapel/device-sim/random';
import { systemTimers } from '@lapel/device-sim/timers';
import t from 'tap';
import { handTimers } from '../hand-timers.ts';
import { command, startBroker, wifi } from '../plain-broker.ts';

const deviceId = '350000000000006';
const HOUR = 3_600_000;

t.test('a device reports its whole status when it connects, and later only changes', async (t) => {
  await using broker = await startBroker();
  let ahead = 0;
  const timers = { ...systemTimers, now: () => systemTimers.now() + ahead };
  await using device = createDevice({ deviceId, credential: 'secret', url: broker.url, seed: 4, timers });
  const statuses = () => broker.published.filter(({ kind }) => kind === 'status').map(({ body }) => body);
  await device.connect();
  await broker.until(() => statuses().length > 0);
  const [whole] = statuses();
  t.match(whole, {
    lang: 'en-US',
    firmwareVersion: '9.001.0',
    managementClientVersion: '2.3.1',
    battery: { level: Number, charging: Boolean },
    storage: { total: 8 * 1024 ** 3, free: 8 * 1024 ** 3 },
    network: { type: 'mobile', ssid: null, rssi: Number },
    bluetooth: { enabled: false },
    software: [],
  });
  device.reportChanges();
  broker.send(deviceId, command(1, 'setLanguage', { lang: 'ja' }));
  await broker.acksAre(1);
  broker.send(deviceId, command(2, 'setLanguage', { lang: 'ja' }));
  broker.send(deviceId, command(3, 'setWifi', wifi('office')));
  await broker.acksAre(3);
  ahead = HOUR;
  device.reportChanges();
  device.reportChanges();
  await broker.until(() => statuses().length >= 4);
  t.match(statuses().slice(1), [{ lang: 'ja' }, { network: { type: 'wifi', ssid: 'office' } }, { battery: {} }]);
  t.strictSame(
    statuses().map((status) => Object.keys(status).length),
    [8, 1, 1, 1],
  );
  t.strictSame(
    broker.published.map(({ kind }) => kind),
    ['status', 'status', 'acks', 'acks', 'status', 'acks', 'status'],
    'who hears an answer can look at what it did',
  );

  await device.drop();
  ahead = 2 * HOUR;
  device.reportChanges();
  t.equal(device.outstanding, 1, 'it is told on the next connection');
  await device.connect();
  await broker.until(() => statuses().length >= 5);
  await device.idle();
  t.equal(Object.keys(statuses().at(-1)!).length, 8);
  t.equal(statuses().length, 5);
});

t.test(
  'a battery drains percent by percent, is charged when it is low, and is the same for the same seed',
  async (t) => {
    const battery = createBattery(createRandom(5));
    const course = Array.from({ length: 20 * 60 }, (_, minute) => battery((minute * HOUR) / 60));
    const steps = course.slice(1).map(({ level }, index) => level - course[index]!.level);
    t.ok(steps.every((step, index) => (course[index + 1]!.charging ? step >= 0 : step <= 1 && step >= -1)));
    t.equal(Math.min(...course.map(({ level }) => level)), 15);
    t.equal(Math.max(...course.map(({ level }) => level)), 100);
    t.ok(course.every(({ level }) => Number.isInteger(level)));
    t.ok(course.some(({ charging }) => charging));
    t.strictSame(createBattery(createRandom(5))(HOUR), battery(HOUR));
  },
);

t.test('all devices of a fleet are visited in turn, once in the interval, with one timer', async (t) => {
  const timers = handTimers();
  const visits: [number, number][] = [];
  const visit = (member: number): unknown => visits.push([member, timers.now()]);
  const stop = scheduleRounds({ every: 1000, members: 4, timers, visit });
  while (((await timers.next()) ?? 2000) < 2000) t.equal(timers.waiting(), 1);
  t.strictSame(
    visits,
    [0, 1, 2, 3, 0, 1, 2, 3].map((member, index) => [member, (index + 1) * 250]),
  );
  timers.elapse(10_000);
  await timers.next();
  t.equal(visits.length, 12, 'what was missed is not made up for');
  stop();
  t.equal(timers.waiting(), 0);
  scheduleRounds({ every: 0, members: 4, timers, visit });
  t.equal(timers.waiting(), 0, 'no interval, no timer');
});

t.test('random events have the given rate, use one timer, and the n-th is always the same', async (t) => {
  async function course(seed: number): Promise<[number, number][]> {
    const timers = handTimers();
    const hits: [number, number][] = [];
    const stop = scheduleHappenings({
      perHour: 300,
      number: (n) => deriveSeed(seed, n) / 2 ** 32,
      timers,
      happen: (n) => hits.push([n, timers.now()]),
    });
    while (((await timers.next()) ?? HOUR) < HOUR);
    t.equal(timers.waiting(), 1);
    stop();
    return hits;
  }
  const hits = await course(1);
  t.ok(Math.abs(hits.length - 300) < 60, `${hits.length} of about 300`);
  t.strictSame(await course(1), hits);
  t.notSame(await course(2), hits);
});

t.test('the life of a fleet needs one timer for each device, and one for all', async (t) => {
  async function hour(life: Partial<Life>) {
    const timers = handTimers();
    const plans: CallPlan[] = [];
    const counts = { reports: 0, moves: 0, files: 0, alarms: 0 };
    const counting = (name: keyof typeof counts) => () => {
      counts[name] += 1;
    };
    const device = {
      reportChanges: counting('reports'),
      movePeer: counting('moves'),
      uploadFile: counting('files'),
      pressButton: counting('alarms'),
      call: (plan: CallPlan) => void plans.push(plan),
    } as unknown as Device;
    const members = Array.from({ length: 20 }, (_, seed) => ({ device: () => device, seed }));
    const stop = letLive({ members, life: { ...quietLife, ...life }, timers });
    const most = timers.waiting();
    while (((await timers.next()) ?? HOUR) < HOUR);
    stop();
    t.equal(timers.waiting(), 0);
    return { most, plans, counts };
  }
  const life = { statusInterval: HOUR / 4, calls: 10, recorded: 0.5, fileUploads: 10, peerMoves: 10, alarms: 10 };
  const { most, plans, counts } = await hour(life);
  t.equal(most, 21);
  t.equal(counts.reports, 80);
  for (const count of [plans.length, counts.files, counts.moves, counts.alarms])
    t.ok(Math.abs(count - 200) < 50, `${count} of 200`);
  t.ok(plans.every(({ milliseconds, others }) => milliseconds >= 20_000 && milliseconds <= 120_000 && others >= 1));
  const recorded = plans.filter((plan) => plan.recorded).length;
  t.ok(Math.abs(recorded / plans.length - 0.5) < 0.15, `${recorded} recorded`);
  t.strictSame((await hour(life)).plans, plans, 'the same seed is the same course');
  t.match(await hour({ statusInterval: 0 }), {
    most: 0,
    plans: [],
    counts: { reports: 0, moves: 0, files: 0, alarms: 0 },
  });
});
