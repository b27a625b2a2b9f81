import { createRandom } from '@lapel/device-sim/random';
import t from 'tap';
import { chanceOf } from '../../src/core/rollouts/health/exact-test.ts';
import { chanceThatWorse, judge, LEVEL, levelOf } from '../../src/core/rollouts/health/judgement.ts';
import { type Observed, USUAL_GAP, VALUE } from '../../src/core/rollouts/health/observation.ts';
import type { WatchedDevice } from '../../src/core/rollouts/health/watch-repository.ts';
import { afterReport, longestAbsence } from '../../src/core/rollouts/health/watching.ts';
import type { HealthRule } from '../../src/core/rollouts/rollout.ts';

const MINUTE = 60_000_000;
const HOUR = 60 * MINUTE;

/** All ways to give `bad` of `all` devices to two groups: those in which the treated group gets at least so many. */
function countedChance(treated: number, treatedBad: number, control: number, controlBad: number): number {
  const all = treated + control;
  const bad = treatedBad + controlBad;
  let [ways, such] = [0, 0];
  for (let set = 0; set < 2 ** all; set += 1) {
    const chosen = set.toString(2).padStart(all, '0').split('').map(Number);
    if (chosen.reduce((sum, one) => sum + one, 0) !== bad) continue;
    ways += 1;
    if (chosen.slice(0, treated).reduce((sum, one) => sum + one, 0) >= treatedBad) such += 1;
  }
  return such / ways;
}

t.test('the probability is that of all ways in which chance could have chosen the bad devices', async (t) => {
  for (let treated = 1; treated <= 5; treated += 1)
    for (let control = 1; control <= 5; control += 1)
      for (let treatedBad = 0; treatedBad <= treated; treatedBad += 1)
        for (let controlBad = 0; controlBad <= control; controlBad += 1) {
          const chance = chanceOf({ treated, treatedBad, control, controlBad });
          const counted = countedChance(treated, treatedBad, control, controlBad);
          t.ok(
            Math.abs(chance - counted) < 1e-9,
            `${treatedBad} of ${treated}, ${controlBad} of ${control}: ${chance}`,
          );
        }
  t.ok(chanceOf({ treated: 5_000, treatedBad: 400, control: 2_000, controlBad: 60 }) < 1e-12, 'also with many devices');
});

t.test('all looks at all rules together have less than the level', async (t) => {
  let sum = 0;
  for (let look = 1; look <= 100_000; look += 1) sum += 3 * levelOf(look, 3);
  t.ok(sum < LEVEL && sum > 0.9 * LEVEL, `${sum}`);
});

const RULE: HealthRule = { measure: 'reconnects', timesControl: 1, minimumDevices: 20 };

t.test('a release that changes nothing is hardly ever stopped, however uneven the devices are', async (t) => {
  const random = createRandom(7);
  let stopped = 0;
  for (let rollout = 0; rollout < 2_000; rollout += 1) {
    // One device in ten reconnects all the time, and one in two now and then.
    const value = (): number => (random() < 0.1 ? 100 * random() : random() < 0.5 ? random() : 0);
    const [treated, control] = [40, 200].map((count) => Array.from({ length: count }, value)) as [number[], number[]];
    if (judge(RULE, treated, control, LEVEL).fires) stopped += 1;
  }
  t.ok(stopped <= 2_000 * LEVEL * 2, `${stopped} of 2000`);
});

t.test('a release that harms one device in four is found with forty', async (t) => {
  const random = createRandom(11);
  let stopped = 0;
  for (let rollout = 0; rollout < 200; rollout += 1) {
    const value = (index: number): number => (index % 4 === 0 ? 30 + random() : random() < 0.005 ? 30 : random());
    const treated = Array.from({ length: 40 }, (_, index) => value(index));
    const control = Array.from({ length: 200 }, () => value(1));
    if (judge({ ...RULE, timesControl: 2 }, treated, control, levelOf(2, 1)).fires) stopped += 1;
  }
  t.ok(stopped >= 180, `${stopped} of 200`);
});

t.test('one broken device is no broken release', async (t) => {
  const rule: HealthRule = { measure: 'reconnects', atMost: 2, minimumDevices: 10 };
  const quiet = Array.from({ length: 19 }, () => 0);
  t.notOk(judge(rule, [...quiet, 1_000], [], undefined).fires);
  t.ok(judge(rule, [...quiet.slice(0, 9), ...Array.from({ length: 11 }, () => 1_000)], [], undefined).fires);
  t.match(judge(rule, [...quiet.slice(0, 9), undefined, undefined], [], undefined), {
    treated: { devices: 9 },
    fires: false,
  });
  t.ok(chanceThatWorse([...quiet, 1_000], quiet) > 0.4);
});

t.test('two cuts have twice the chance of one', async (t) => {
  const [treated, control] = [[9, 9, 9, 1], Array.from({ length: 8 }, () => 0)];
  const chance = chanceOf({ treated: 4, treatedBad: 4, control: 8, controlBad: 0 });
  t.equal(chanceThatWorse(treated, control), 2 * chance);
  t.equal(chanceThatWorse([1, 1, 1, 1], control), chance, 'with two values there is one cut');
});

t.test('no device is silent for a time in which the service could not hear it', async (t) => {
  const silent = (more: Partial<Observed>) =>
    VALUE.silent({ ...BEGUN, now: 200 * MINUTE, seenAt: 100 * MINUTE, listensSince: 0, ...more } as Observed, {});
  t.equal(silent({}), 1);
  t.equal(silent({ listensSince: 170 * MINUTE }), 1);
  t.equal(silent({ listensSince: 171 * MINUTE }), undefined);
  t.equal(silent({ since: 171 * MINUTE }), undefined);
  t.equal(silent({ seenAt: 171 * MINUTE }), 0);
});

t.test('the usual absence is the longest of those before, within its bounds', async (t) => {
  const facts = (...list: [kind: 'connected' | 'ended', hour: number][]) =>
    list.map(([kind, hour]) => ({ kind, at: hour * HOUR, lastAt: hour * HOUR }));
  t.equal(longestAbsence([]), USUAL_GAP.least);
  // The latest comes first: back at 20, away since 8, back at 7, away since 6.
  t.equal(longestAbsence(facts(['connected', 20], ['ended', 8], ['connected', 7], ['ended', 6])), 12 * HOUR);
  t.equal(longestAbsence(facts(['ended', 20], ['connected', 8])), USUAL_GAP.least, 'the present one does not count');
  t.equal(longestAbsence(facts(['connected', 1_000], ['ended', 1])), USUAL_GAP.most);
});

const BEGUN: WatchedDevice = {
  deviceId: '1',
  isControl: 0,
  stage: 0,
  since: 100 * MINUTE,
  usualGap: USUAL_GAP.least,
  statusAt: 0,
  level: null,
  levelAt: 0,
  isCharging: null,
  drained: 0,
  drainedMicros: 0,
  freeFirst: null,
  freeFirstAt: 0,
  freeLast: null,
  freeLastAt: 0,
};

t.test('free storage counts from what the device reported last, after what the release itself takes', async (t) => {
  const since = 100 * MINUTE;
  const after = (device: WatchedDevice, minute: number, free: number): WatchedDevice => {
    const at = minute * MINUTE;
    const value = { total: 2 ** 33, free: free * 1024 ** 2 };
    return afterReport(device, { reported: { storage: { value, at } }, reportedAt: at });
  };
  const before = after({ ...BEGUN, since }, 50, 1_000);
  t.match(before, { freeFirst: 1_000, freeFirstAt: since, freeLast: 1_000, freeLastAt: since });
  const installed = after(before, 102, 800);
  t.match(installed, { freeFirst: 800, freeFirstAt: 102 * MINUTE });
  const later = after(installed, 162, 740);
  t.match(later, { freeFirst: 800, freeLast: 740, freeLastAt: 162 * MINUTE });
  const seen = (device: WatchedDevice, minute: number): Observed => ({
    ...device,
    now: minute * MINUTE,
    seenAt: minute * MINUTE,
    listensSince: 0,
    counted: () => ({ reconnects: 0, failedCommands: 0, events: new Map() }),
  });
  t.equal(VALUE.storageFree(seen(later, 162), {}), 60);
  t.equal(VALUE.storageFree(seen(later, 222), {}), 30, 'it is heard of, and reports nothing new');
  t.equal(VALUE.storageFree(seen(before, 160), {}), 0, 'it has reported nothing since');
  t.equal(VALUE.storageFree(seen(installed, 110), {}), undefined);
});

t.test('what a battery loses counts only between two reports without a charger', async (t) => {
  const after = (device: WatchedDevice, minute: number, level: number, charging: boolean): WatchedDevice => {
    const at = minute * MINUTE;
    return afterReport(device, { reported: { battery: { value: { level, charging }, at } }, reportedAt: at });
  };
  const reports: [minute: number, level: number, charging: boolean, drained: number, minutes: number][] = [
    [90, 100, false, 0, 0], // before it had the release
    [110, 90, false, 0, 0],
    [120, 80, false, 10, 10],
    [120, 80, false, 10, 10], // the same report again
    [130, 85, true, 10, 10],
    [140, 80, false, 10, 10],
    [150, 75, false, 15, 20],
    [160, 79, false, 15, 30],
  ];
  let device = BEGUN;
  for (const [minute, level, charging, drained, minutes] of reports) {
    device = after(device, minute, level, charging);
    t.match(device, { drained, drainedMicros: minutes * MINUTE }, `${minute}`);
  }
});
