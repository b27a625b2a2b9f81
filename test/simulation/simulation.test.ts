import { createRandom } from '@lapel/device-sim/random';
import { readScenario } from '@lapel/device-sim/scenario/read-scenario';
import { loadContracts } from '@lapel/schemas/contracts/contracts';
import t from 'tap';
import type { Plan } from './plan.ts';
import { planOf } from './plan-of.ts';
import { shrink } from './shrink.ts';
import { WorldTime } from './time.ts';
import type { Told } from './told.ts';
import { playWorlds } from './worlds.ts';

const EMPTY = { spells: [], aims: [], deeds: [], restore: undefined };

/** Plays worlds to their end, or until one breaks a promise; with a form, until one breaks a promise of this form. */
async function played(seeds: readonly number[], breakage?: string, form = /^/): Promise<Told[]> {
  const all: Told[] = [];
  await playWorlds(seeds.map(planOf), {
    breakage,
    onTold(told) {
      all.push(told);
      return told.broken.some((text) => form.test(text));
    },
  });
  return all;
}

t.test('a seed does the same again, alone and after other worlds', async (t) => {
  const [together, [alone]] = await Promise.all([played([2, 6, 29]), played([29])]);
  t.same(
    together.map(({ seed, broken, notRun }) => ({ seed, broken, notRun })),
    [2, 6, 29].map((seed) => ({ seed, broken: [], notRun: [] })),
  );
  const last = together.at(-1)!;
  t.match(last.trace, /^[0-9a-f]{64}$/);
  t.equal(alone?.trace, last.trace);
  t.equal(alone?.events, last.events);
  t.equal(new Set(together.map(({ trace }) => trace)).size, 3, 'other seeds do something else');
});

t.test('a kill loses what the disk does not have: an answer before the commit is lost', async (t) => {
  const found = (await played([1, 2, 3, 4, 5, 6, 7, 8], 'answers-before-the-commit', /^lost/)).at(-1)!;
  t.match(found.broken.join(), /lost == 0/);
});

t.test('what is told before the disk has it, and what is stored without it, is found without a kill', async (t) => {
  const seeds = Array.from({ length: 80 }, (_, at) => at + 7);
  for (const [breakage, promise] of [
    ['effects-before-the-disk', /nothing is told before the disk has it/],
    ['commit-goes-on-without-its-transaction', /nothing is stored beside the commits/],
  ] as const)
    t.match((await played(seeds, breakage, promise)).at(-1)!.broken.join(), promise);
});

t.test('a service that goes back to a backup keeps what is promised then', async (t) => {
  const seeds = Array.from({ length: 400 }, (_, at) => at + 1);
  const restored = seeds.filter((seed) => planOf(seed).restore);
  t.ok(restored.length > 30 && restored.length < 70, 'one world of eight');
  const [one = 0, two = 0] = restored;
  const sound = await played([one, two]);
  t.same(
    sound.map(({ broken, notRun }) => [broken, notRun]),
    [
      [[], []],
      [[], []],
    ],
  );
  t.ok(sound.some(({ meetings }) => Object.keys(meetings).some((name) => name.startsWith('restore x '))));
  t.equal((await played([one])).at(-1)!.trace, sound[0]!.trace, 'a backup takes the same time again');
  t.not((await played(restored, 'numbers-go-on-after-a-restore')).at(-1)!.broken.length, 0);
  const held = restored.find((seed) => planOf(seed).restore?.isHeld)!;
  t.not((await played([held, ...restored], 'held-webhooks-are-sent')).at(-1)!.broken.length, 0);
});

t.test('a quiet world is judged by all that a customer can see, also beside another customer', async (t) => {
  const plans = Array.from({ length: 1_000 }, (_, at) => planOf(at + 1));
  const quiet = plans.filter(({ scenario }) => scenario.about !== undefined);
  t.ok(quiet.length > 70 && quiet.length < 130, 'one world of ten');
  for (const { spells, aims, deeds, restore } of quiet) t.same({ spells, aims, deeds, restore }, EMPTY);
  for (const [about, breakage] of [
    [/receiver of another developer hangs/, 'hanging-receiver-blocks-others'],
    [/read very slowly/, 'one-window-for-all-devices'],
    [/Endpoints and consumers/, 'page-in-the-wrong-order'],
  ] as const) {
    const { seed } = quiet.find(({ scenario }) => about.test(scenario.about ?? ''))!;
    const [sound, broken] = await Promise.all([played([seed]), played([seed], breakage)]);
    t.match(sound, [{ broken: [], notRun: [] }], String(about));
    t.not(broken[0]?.broken.length, 0, breakage);
  }
});

t.test('every plan is a scenario that the simulator understands', async (t) => {
  for (let seed = 1; seed <= 500; seed += 1) {
    const { scenario } = planOf(seed);
    t.equal(readScenario(JSON.stringify(scenario), scenario.name).scenario.seed, seed);
  }
  t.same(planOf(7), planOf(7));
});

t.test('the service accepts what the rollouts of worlds ask for', async (t) => {
  const { faults } = loadContracts();
  const schemas = { setWifi: 'rest/wifi-settings', setLanguage: 'rest/language-setting' } as const;
  const asked = Array.from({ length: 500 }, (_, at) => planOf(at + 1).scenario.phases)
    .flat()
    .flatMap(({ actions = [] }) => actions.filter(({ operation }) => operation !== undefined));
  t.ok(asked.length > 50);
  for (const { operation, parameters } of asked)
    t.same(faults(schemas[operation as keyof typeof schemas], parameters), [], String(operation));
});

t.test('a world is made smaller as long as it breaks the same', async (t) => {
  const plan = planOf(20);
  /** It breaks as long as it has a kill. */
  const hasKill = async ({ scenario: { phases } }: Plan): Promise<boolean> =>
    phases.some(({ service = [] }) => [service].flat().some(({ fault }) => fault === 'kill'));
  t.ok(await hasKill(plan));
  const { scenario, spells } = await shrink(plan, hasKill);
  t.equal(scenario.phases.length, 1);
  t.equal(scenario.devices, 2);
  t.same(spells, []);
  const phase = scenario.phases[0]!;
  t.match(phase, { actions: undefined, receiver: undefined });
  t.equal([phase.service ?? []].flat().length, 1);
});

t.test('events happen in the order of their times, and nothing of a program that was killed', async (t) => {
  const time = new WorldTime();
  const told: string[] = [];
  const random = createRandom(1);
  const moments = Array.from({ length: 200 }, () => Math.trunc(random() * 100));
  for (const at of moments) time.plan(at, 'event', () => told.push(String(at)));
  const dead = { name: 'dead', isAlive: true, ahead: 0, resumesAt: 0 };
  time.plan(99, 'event', () => told.push('dead'), dead);
  const cancel = time.plan(98, 'event', () => told.push('cancelled'));
  time.plan(50, 'kill', () => {
    dead.isAlive = false;
    cancel();
  });
  await time.run(new Promise<void>((resolve) => time.plan(1000, 'end', resolve)));
  t.same(told, moments.toSorted((one, two) => one - two).map(String));
  t.equal(time.now, 1000);
  await t.rejects(time.run(new Promise(() => undefined)), { message: 'nothing is planned any more' });
});

t.test('two worlds at a time hold each other up in no turn', async (t) => {
  const run = async (): Promise<number> => {
    const time = new WorldTime();
    const happened: number[] = [];
    for (let at = 0; at < 200; at += 1) time.plan(at, 'event', () => happened.push(at));
    await time.run(new Promise<void>((resolve) => time.plan(1000, 'end', resolve)));
    return happened.length;
  };
  t.same(await Promise.all([run(), run(), run()]), [200, 200, 200]);
});

t.test('a program that stands still goes on later, in the old order', async (t) => {
  const time = new WorldTime();
  const program = { name: 'one', isAlive: true, ahead: 0, resumesAt: 500 };
  const told: [number, string][] = [];
  for (const [at, name] of [
    [10, 'first'],
    [20, 'second'],
    [600, 'third'],
  ] as const)
    time.plan(at, 'event', () => told.push([time.now, name]), program);
  await time.run(new Promise<void>((resolve) => time.plan(1000, 'end', resolve)));
  t.same(told, [
    [500, 'first'],
    [500, 'second'],
    [600, 'third'],
  ]);
});
