import { setTimeout as pause } from 'node:timers/promises';
import { createRandom, type Random } from '@lapel/device-sim/random';
import t from 'tap';
import { actAt, type Moments, startCrashWorld } from '../flow/crash-world.ts';
import { type NodesTarget, startNodesTarget } from './nodes-target.ts';

/** The number of failures; `npm run try -- soak` repeats this for an evening. */
const ROUNDS = Number(process.env['CRASH_ROUNDS'] ?? 5);
const SEED = Number(process.env['CRASH_SEED'] ?? 1);
const NODES = 3;

const MOMENTS: (keyof Moments)[] = ['requested', 'accepted', 'command', 'answered', 'settled', 'webhook', 'delivered'];

const whole = (random: Random, bound: number): number => Math.floor(random() * bound);

type Break = (target: NodesTarget, index: number, random: Random) => Promise<void>;

const BREAKS: Record<string, Break> = {
  async 'a node is killed'(target, index, random) {
    target.kill(index);
    await pause(random() * 1_000);
    await target.restart(index);
  },
  async 'a node ends in good order'(target, index) {
    await target.end(index);
    await target.restart(index);
  },
  // Shorter and longer than the lease of the node.
  async 'a node loses the database'(target, index, random) {
    target.isolate(index, true);
    await pause(500 + random() * 4_500);
    target.isolate(index, false);
  },
  async 'a node stands still'(target, index, random) {
    target.freeze(index, true);
    await pause(500 + random() * 4_500);
    target.freeze(index, false);
  },
  async 'the connections of a node to the database are cut, hints are lost'(target, index, random) {
    for (let times = 1 + whole(random, 3); times > 0; times -= 1) {
      target.cut(index);
      await pause(random() * 300);
    }
  },
  async 'the database is killed'(target, _, random) {
    await target.killDatabase();
    await pause(random() * 1_500);
    await target.startDatabase();
  },
};

t.setTimeout(300_000 + ROUNDS * 60_000);

t.test('nothing is lost or doubled when anything of a cluster is killed or cut off under load', async (t) => {
  const random = createRandom(SEED);
  const target = await startNodesTarget(t, { nodes: NODES });
  const world = await startCrashWorld(t, target, { devices: 12, latency: { min: 0, max: 6 } });
  let over = false;

  /** Makes requests through all failures; without an answer it goes on to the next one. */
  async function caller(number: number): Promise<void> {
    const own = createRandom(SEED * 1000 + number);
    for (let i = 0; !over; i += 1) {
      const device = world.devices[whole(own, world.devices.length)]!;
      const transactionId = await world.setWifi(device, `caller ${number}, ${i}`);
      if (transactionId === undefined) await pause(50);
      else if (own() < 0.2) await world.cancel(device, transactionId);
    }
  }
  const callers = Array.from({ length: 6 }, (_, number) => caller(number));
  const names = Object.keys(BREAKS);
  for (let round = 0; round < ROUNDS; round += 1) {
    const name = names[(round + SEED) % names.length]!;
    const moment = MOMENTS[whole(random, MOMENTS.length)]!;
    const index = whole(random, NODES);
    let broken: Promise<void> | undefined;
    await actAt(world.moments, { moment, nth: 1 + whole(random, 60), delay: random() * 3 }, () => {
      t.comment(`round ${round}: ${name} (${index})`);
      broken = BREAKS[name]!(target, index, random);
    });
    await broken;
  }
  over = true;
  await Promise.all(callers);
  await world.settled();
  t.equal(
    await world.verify(),
    world.submitted(),
    'every request made one transaction, on whichever node it was repeated',
  );
});
