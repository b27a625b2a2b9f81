import { createRandom, type Random } from '@lapel/device-sim/random';
import t, { type Test } from 'tap';
import { startCrashTarget } from './crash-target.ts';
import { actAt, type Moments, startCrashWorld } from './crash-world.ts';
import { runMain } from './service-process.ts';

/** One kill at each moment; `npm run try -- soak` repeats this for an evening. */
const ROUNDS = Number(process.env['CRASH_ROUNDS'] ?? 1);
const SEED = Number(process.env['CRASH_SEED'] ?? 1);
const DEVICES = 4;
/** Requests in each round: each moment occurs so often, unless a kill comes first. */
const BURST = 8;

const EACH_ONCE = 'every request made one transaction, also when it was sent again after a crash';

const whole = (random: Random, bound: number): number => Math.floor(random() * bound);

type Scene = Awaited<ReturnType<typeof startScene>>;

async function startScene(t: Test, options: Parameters<typeof startCrashWorld>[2]) {
  const target = await startCrashTarget(t);
  return { target, world: await startCrashWorld(t, target, options) };
}

/** One round: a burst of requests for all devices, a kill, a start, and all results must arrive. */
async function round({ target, world }: Scene, moment: keyof Moments, random: Random, ssid: string): Promise<void> {
  // The consequences of a moment take the service some milliseconds, so half of the kills happen somewhere within them.
  const delay = random() < 0.5 ? 0 : random() * (moment === 'requested' ? 40 : 4);
  const killed = actAt(world.moments, { moment, nth: 1 + whole(random, BURST - 2), delay }, target.kill);
  const calls = Array.from({ length: BURST }, (_, index) => world.setWifi(world.devices[index % DEVICES]!, ssid));
  await killed;
  await Promise.all(calls);
  await target.restart();
  await world.settled();
}

const POINTS: { moment: keyof Moments; title: string }[] = [
  { moment: 'requested', title: 'with a request on its way: before and around its commit' },
  { moment: 'accepted', title: 'when a request was answered: after its commit' },
  { moment: 'command', title: 'when a command came to its device: after the publish' },
  { moment: 'answered', title: 'when a device had sent its answer: before and around the settlement' },
  { moment: 'settled', title: 'when a device’s answer was acknowledged: after the settlement' },
  { moment: 'webhook', title: 'when a webhook came: delivered, but not recorded' },
  { moment: 'delivered', title: 'when a webhook was answered: around its record' },
];

t.jobs = 2;
t.setTimeout(300_000 + ROUNDS * 60_000);
// A process that ends normally writes the compile cache for those that will be killed.
t.before(() => runMain(t, ['--help']));

t.test(
  'nothing is lost or doubled when the service is killed at any moment of a transaction',
  { buffered: true },
  async (t) => {
    const random = createRandom(SEED * 100);
    const scene = await startScene(t, { devices: DEVICES, latency: { min: 0, max: 0 } });
    const { world } = scene;
    for (let i = 0; i < ROUNDS; i += 1) {
      for (const { moment, title } of POINTS) {
        t.comment(title);
        const repeats = world.repeats();
        await round(scene, moment, random, `${moment} ${i}`);
        if (moment === 'webhook') t.ok(world.repeats() > repeats, 'what was not recorded came again, with its id');
      }
    }
    t.equal(await world.verify(), world.submitted(), EACH_ONCE);
  },
);

t.test(
  'nothing is lost or doubled when the service is killed at random moments under load',
  { buffered: true },
  async (t) => {
    const random = createRandom(SEED * 100 + 99);
    const { target, world } = await startScene(t, { devices: 12, latency: { min: 0, max: 6 } });
    const names = POINTS.map(({ moment }) => moment);
    let over = false;

    /** Makes requests through all crashes; without an answer it goes on to the next one. */
    async function caller(number: number): Promise<void> {
      const own = createRandom(SEED * 1000 + number);
      for (let i = 0; !over; i += 1) {
        const device = world.devices[whole(own, world.devices.length)]!;
        const transactionId = await world.setWifi(device, `caller ${number}, ${i}`);
        if (transactionId === undefined) await target.up();
        else if (own() < 0.2) await world.cancel(device, transactionId);
      }
    }
    const callers = Array.from({ length: 6 }, (_, number) => caller(number));
    for (let i = 0; i < ROUNDS * 3; i += 1) {
      const moment = names[whole(random, names.length)]!;
      await actAt(world.moments, { moment, nth: 1 + whole(random, 60), delay: random() * 3 }, target.kill);
      await target.restart();
    }
    over = true;
    await Promise.all(callers);
    await world.settled();
    t.equal(await world.verify(), world.submitted(), EACH_ONCE);
  },
);
