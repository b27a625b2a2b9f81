import { startActing } from '@lapel/device-sim/scenario/acting';
import { createChapters } from '@lapel/device-sim/scenario/chapters';
import { callOf, type Plan, placesOf, plansOf } from '@lapel/device-sim/scenario/plan';
import { readScenario } from '@lapel/device-sim/scenario/read-scenario';
import { scaled } from '@lapel/device-sim/scenario/scale';
import t from 'tap';
import { handTimers } from '../hand-timers.ts';

const scenarioOf = (phases: string, more = '') =>
  readScenario(
    `name: a\nseed: 7\ndevices: 10\n${more}groups: [{ name: few, count: 4 }, { name: many }]\nphases:\n${phases}`,
    'a.yaml',
  ).scenario;

const first = (plan: Plan | undefined, count: number) =>
  Array.from({ length: count }, (_, n) => ({ number: plan!.numberOf(n), place: plan!.placeOf(n) }));

t.test('devices are numbered through the groups', async (t) => {
  const scenario = scenarioOf('  - { name: p, duration: 1s }');
  t.strictSame(placesOf(scenario, ['few']), [0, 1, 2, 3]);
  t.strictSame(placesOf(scenario, ['many']), [4, 5, 6, 7, 8, 9]);
});

t.test('with `each` every device has its turn before one has its second, in an order of the seed', async (t) => {
  const scenario = scenarioOf('  - { name: p, duration: 10s, actions: [{ do: setWifi, each: 2, groups: [few] }] }');
  const [plan] = plansOf(scenario, 0, 0);
  t.equal(plan?.total, 8);
  const places = first(plan, 8).map(({ place }) => place);
  t.strictSame(new Set(places.slice(0, 4)), new Set([0, 1, 2, 3]));
  t.strictSame(places.slice(4), places.slice(0, 4));
  t.ok(plan!.dueAt(7) < 9000, 'the last one begins before the phase is over');
});

t.test('numbers continue from phase to phase and from round to round, each once', async (t) => {
  const scenario = scenarioOf(
    '  - { name: p, duration: 2s, actions: [{ do: setWifi, rate: 3/s }, { do: setApn, each: 1 }] }\n' +
      '  - { name: q, duration: 1s, actions: [{ do: setWifi, rate: 4/s }] }\n',
    'rounds: 2\n',
  );
  const numbers = [0, 1].flatMap((round) =>
    [0, 1].flatMap((at) => plansOf(scenario, round, at).flatMap((plan) => first(plan, plan.total))),
  );
  t.strictSame(
    numbers.map(({ number }) => number),
    Array.from({ length: 40 }, (_, index) => index + 1),
  );
});

t.test('actions without an end take turns with their numbers', async (t) => {
  const scenario = scenarioOf('  - { name: p, actions: [{ do: setWifi, rate: 1/s }, { do: setApn, rate: 5/s }] }');
  const plans = plansOf(scenario, 0, 0);
  t.strictSame(
    plans.map((plan) => first(plan, 3).map(({ number }) => number)),
    [
      [1, 3, 5],
      [2, 4, 6],
    ],
  );
});

t.test('seed and number choose the device; another round and another seed choose others', async (t) => {
  const phases = '  - { name: p, duration: 60s, actions: [{ do: setWifi, rate: 1/s, share: 50 % }] }';
  const scenario = scenarioOf(phases, 'rounds: 2\n');
  const places = (round: number, seed = 7) =>
    first(plansOf({ ...scenario, seed }, round, 0)[0], 60).map(({ place }) => place);
  t.strictSame(places(0), places(0));
  t.notSame(places(0), places(1));
  t.notSame(places(0), places(0, 8));
  t.equal(new Set([...places(0), ...places(1)]).size, 5, 'a share is always the same devices');
});

t.test('the number of a call decides its length', async (t) => {
  const life = { callLength: { min: 100, max: 200 }, recorded: 0.5 };
  t.strictSame(callOf(1, 5, life), callOf(1, 5, life));
  t.notSame(callOf(1, 5, life), callOf(1, 6, life));
});

/** Runs everything that is due up to a time. */
async function advance(timers: ReturnType<typeof handTimers>, until: number): Promise<void> {
  while (timers.waiting() > 0 && timers.now() < until) await timers.next();
}

const planOf = (perSecond: number, total: number): Plan => ({
  action: { do: 'setWifi', groups: [], share: 1, pace: { perSecond } },
  total,
  dueAt: (n) => (n * 1000) / perSecond,
  placeOf: () => 0,
  numberOf: (n) => n + 1,
});

t.test('actions are begun at their pace, whether or not they are answered', async (t) => {
  const timers = handTimers();
  const done: number[] = [];
  const acting = startActing({
    plans: [planOf(10, 20)],
    timers,
    act: (_plan, n) => {
      done.push(n);
      return Promise.resolve();
    },
  });
  t.strictSame(done, [0]);
  await advance(timers, 1000);
  t.equal(done.length, 11);
  await advance(timers, 5000);
  t.equal(done.length, 20);
  t.ok(acting.done());
  t.equal(acting.stop().left, 0);
});

t.test('an action above the bound of calls begins later, and is counted if it never begins', async (t) => {
  const timers = handTimers();
  const answers: (() => void)[] = [];
  const acting = startActing({
    plans: [planOf(1000, 1000)],
    timers,
    act: () => new Promise((resolve) => answers.push(resolve)),
  });
  await advance(timers, 1000);
  t.equal(answers.length, 256, 'as many as there are hands');
  for (const answer of answers.splice(0, 100)) answer();
  await advance(timers, 1010);
  t.equal(answers.length, 256);
  const stopped = acting.stop();
  for (const answer of answers) answer();
  t.equal(stopped.left, 1000 - 356);
  await stopped.answered;
});

t.test('a phase has the counts of its duration, over all its rounds', async (t) => {
  let at = 0;
  const counts = { commands: 0, connected: 0 };
  const chapters = createChapters({ now: () => at, counts: () => ({ ...counts }), figures: () => null });
  const during = (name: string, commands: number, connected: number): void => {
    chapters.begin(name);
    at += 10;
    counts.commands += commands;
    counts.connected = connected;
  };
  during('day', 5, 9);
  during('night', 1, 2);
  during('day', 7, 8);
  t.match(chapters.all(), [
    { name: 'run', fleet: { commands: 13, connected: 8 } },
    {
      name: 'day',
      spans: [
        { from: 0, to: 10 },
        { from: 20, to: 30 },
      ],
      fleet: { commands: 12, connected: 8 },
    },
    { name: 'night', spans: [{ from: 10, to: 20 }], fleet: { commands: 1, connected: 2 } },
  ]);
});

t.test('a rate that changes evenly has its mean in the whole phase, and its ends at the ends', async (t) => {
  for (const [rates, total] of [
    ['rate: 0/s, rateTo: 20/s', 100],
    ['rate: 20/s, rateTo: 0/s', 100],
    ['rate: 10/s, rateTo: 10/s', 100],
  ] as const) {
    const scenario = scenarioOf(`  - { name: p, duration: 10s, actions: [{ do: setWifi, ${rates} }] }`);
    const [plan] = plansOf(scenario, 0, 0);
    t.equal(plan?.total, total, rates);
    const times = Array.from({ length: total }, (_, n) => plan!.dueAt(n));
    t.strictSame(
      times,
      times.toSorted((one, other) => one - other),
    );
    t.ok(times[0] === 0 && times.at(-1)! <= 10_000, rates);
    const early = times.filter((at) => at < 5000).length;
    t.ok(
      Math.abs(early - { 0: 25, 20: 75, 10: 50 }[Number.parseInt(rates.slice(6), 10)]!) <= 1,
      `${early} in the first half`,
    );
  }
});

t.test('a rate that changes needs a phase with an end, and grows with the fleet', async (t) => {
  const rising = '{ do: setWifi, rate: 1/s, rateTo: 5/s }';
  const message = /rateTo: can be given only together with rate, in a phase with a duration/;
  t.throws(() => scenarioOf(`  - { name: p, actions: [${rising}] }`), { message });
  t.throws(() => scenarioOf('  - { name: p, duration: 1s, actions: [{ do: setWifi, each: 1, rateTo: 5/s }] }'), {
    message,
  });
  const small = scaled(scenarioOf(`  - { name: p, duration: 10s, actions: [${rising}] }`), { devices: 20, faster: 2 });
  t.strictSame(small.phases[0]?.actions[0]?.pace, { perSecond: 4, toPerSecond: 20 });
});
