import t from 'tap';
import { createTurns } from '../src/runtime/turns.ts';

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

await t.test('a bounded number of pieces begins in one turn, in their order', async (t) => {
  const turn = createTurns(3);
  const begun: number[] = [];
  const pieces = Array.from({ length: 8 }, (_, piece) => turn().then(() => begun.push(piece)));
  await Promise.resolve();
  await Promise.resolve();
  t.same(begun, [0, 1, 2]);
  const lengths: number[] = [];
  while (begun.length < 8) {
    await nextTurn();
    lengths.push(begun.length);
  }
  await Promise.all(pieces);
  t.same(begun, [0, 1, 2, 3, 4, 5, 6, 7]);
  t.same(lengths, [6, 8]);
});

await t.test('a single worker never waits, and nothing keeps the loop awake afterwards', async (t) => {
  const turn = createTurns(1);
  for (let round = 0; round < 3; round += 1) {
    let done = false;
    void turn().then(() => {
      done = true;
    });
    await Promise.resolve();
    t.ok(done);
    await nextTurn();
  }
});
