import t from 'tap';
import { createFairQueue } from '../src/runtime/fair-queue.ts';

interface Item {
  developer: string;
  device: string;
  number: number;
}

/** Adds so many items of a developer, spread over its devices, each of the same cost. */
function fill(
  queue: ReturnType<typeof createFairQueue<Item>>,
  developer: string,
  { devices, items, cost = 1 }: { devices: number; items: number; cost?: number },
): void {
  for (let number = 0; number < items; number += 1) {
    const device = `${developer} ${number % devices}`;
    queue.put([developer, device], { developer, device, number }, cost);
  }
}

const takeSome = (queue: ReturnType<typeof createFairQueue<Item>>, most: number): Item[] =>
  Array.from({ length: most }, () => queue.take()).filter((item) => item !== undefined);

const countBy = (items: readonly Item[], of: 'developer' | 'device'): Record<string, number> =>
  Object.fromEntries([...Map.groupBy(items, (item) => item[of])].map(([key, group]) => [key, group.length]));

t.test('each developer with work gets the same share, whatever the number of its devices', async (t) => {
  const queue = createFairQueue<Item>();
  fill(queue, 'many', { devices: 300, items: 9_000 });
  fill(queue, 'some', { devices: 20, items: 500 });
  fill(queue, 'one', { devices: 1, items: 100 });
  t.same(countBy(takeSome(queue, 300), 'developer'), { many: 100, some: 100, one: 100 });
  t.same(countBy(takeSome(queue, 400), 'developer'), { many: 200, some: 200 }, 'who has nothing left leaves its share');
});

t.test('each device of a developer gets the same share, and keeps its order', async (t) => {
  const queue = createFairQueue<Item>();
  fill(queue, 'dev', { devices: 1, items: 50 });
  for (let number = 0; number < 3; number += 1)
    queue.put(['dev', 'other'], { developer: 'dev', device: 'other', number });
  const taken = takeSome(queue, 53);
  t.same(taken.slice(0, 6).filter(({ device }) => device === 'other').length, 3);
  for (const group of Map.groupBy(taken, ({ device }) => device).values())
    t.same(
      group,
      group.toSorted((a, b) => a.number - b.number),
    );
  t.equal(queue.take(), undefined);
  t.equal(queue.size(), 0);
});

t.test('a newcomer is next, however long the queue of another is', async (t) => {
  const queue = createFairQueue<Item>();
  fill(queue, 'many', { devices: 300, items: 9_000 });
  takeSome(queue, 1_000);
  for (let round = 0; round < 20; round += 1) {
    fill(queue, 'few', { devices: 1, items: 1 });
    t.ok(takeSome(queue, 2).some(({ developer }) => developer === 'few'));
  }
});

t.test('an expensive item is followed by a longer wait', async (t) => {
  const queue = createFairQueue<Item>();
  fill(queue, 'large', { devices: 3, items: 100, cost: 10 });
  fill(queue, 'small', { devices: 1, items: 200 });
  const counts = countBy(takeSome(queue, 110), 'developer');
  t.match(counts, { large: 10, small: 100 });
  t.equal(takeSome(queue, 1_000).length, 190, 'and all of it is taken in the end');
  fill(queue, 'large', { devices: 1, items: 5, cost: 1_000 });
  takeSome(queue, 3);
  fill(queue, 'small', { devices: 1, items: 1 });
  t.equal(
    takeSome(queue, 2).filter(({ developer }) => developer === 'small').length,
    1,
    'what was taken alone was taken from nobody',
  );
});

t.test('a device that moves to another developer keeps its order', async (t) => {
  const queue = createFairQueue<Item>();
  fill(queue, 'a', { devices: 1, items: 3 });
  const moved = (number: number): Item => ({ developer: 'b', device: 'a 0', number });
  queue.put(['b', 'a 0'], moved(3));
  queue.put(['b', 'b 0'], { developer: 'b', device: 'b 0', number: 0 });
  const order = takeSome(queue, 9).filter(({ device }) => device === 'a 0');
  t.same(
    order.map(({ number }) => number),
    [0, 1, 2, 3],
  );
});

t.test('nothing is lost, nothing comes twice, and no source with work waits for long', async (t) => {
  let seed = 7;
  const random = (below: number): number => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((seed / 2_147_483_648) * below);
  };
  const queue = createFairQueue<Item>();
  const last = new Map<string, number>();
  const waiting = new Map<string, { since: number; left: number }>();
  let put = 0;
  let taken = 0;
  for (let step = 0; step < 30_000; step += 1) {
    if (random(100) < 48) {
      const developer = `d${random(6)}`;
      const device = `${developer} ${random(50)}`;
      queue.put([developer, device], { developer, device, number: put });
      const before = waiting.get(developer);
      waiting.set(developer, { since: before?.since ?? taken, left: (before?.left ?? 0) + 1 });
      put += 1;
      continue;
    }
    const item = queue.take();
    if (!item) continue;
    const own = waiting.get(item.developer);
    if (!own || taken - own.since > 6 || (last.get(item.device) ?? -1) >= item.number)
      t.fail(`out of turn: ${item.device}`);
    last.set(item.device, item.number);
    taken += 1;
    if (own && own.left > 1) waiting.set(item.developer, { since: taken, left: own.left - 1 });
    else waiting.delete(item.developer);
  }
  t.equal(put - taken, queue.size());
  t.equal(takeSome(queue, put).length, put - taken);
});
