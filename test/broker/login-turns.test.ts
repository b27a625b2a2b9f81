import t from 'tap';
import { createDemand } from '../../src/core/transactions/demand.ts';
import { createLoginTurns, FEW_COMMANDS, LOGINS } from '../../src/edge/mqtt/login-turns.ts';

/** Turns on a clock that only the test moves. */
function startTurns(perSecond: number) {
  let time = 1000;
  let task: { at: number; run: () => void } | undefined;
  const work = { perSecond };
  const turns = createLoginTurns({
    commands: () => work.perSecond,
    pace: LOGINS,
    now: () => time,
    after(milliseconds, run) {
      task = { at: time + milliseconds, run };
    },
  });
  const order: number[] = [];
  return {
    work,
    order,
    ask: (number: number) => turns.wait()?.then(() => order.push(number)),
    async move(milliseconds: number): Promise<void> {
      const end = time + milliseconds;
      while (task && task.at <= end) {
        const { at, run } = task;
        task = undefined;
        time = at;
        run();
        await Promise.resolve();
      }
      time = end;
      await Promise.resolve();
    },
  };
}

t.test('without commands a login proceeds at once', (t) => {
  const { ask } = startTurns(0);
  for (let number = 0; number < 1000; number += 1) t.equal(ask(number), undefined);
  t.end();
});

t.test('few commands let a login proceed at once; from so many on, the first one waits, too', async (t) => {
  t.equal(startTurns(FEW_COMMANDS - 1).ask(0), undefined);
  const { ask, order, move } = startTurns(FEW_COMMANDS);
  void ask(0);
  t.same(order, []);
  await move(1);
  t.same(order, [0]);
});

t.test('while commands are in progress logins proceed in their order, with time left between', async (t) => {
  const { ask, order, move } = startTurns(2000);
  for (let number = 0; number < 1000; number += 1) void ask(number);
  await move(1000);
  t.ok(order.length >= 590 && order.length <= 650, `${order.length} in a second: about a fifth of the time`);
  await move(1000);
  t.same(
    order,
    Array.from({ length: 1000 }, (_, number) => number),
    'all of them come to their turn',
  );
});

t.test('the fewer commands, the more logins', async (t) => {
  const logins: number[] = [];
  for (const perSecond of [1000, 700, 100]) {
    const { ask, order, move } = startTurns(perSecond);
    for (let number = 0; number < 5000; number += 1) void ask(number);
    await move(1000);
    logins.push(order.length);
  }
  t.same(
    logins,
    logins.toSorted((a, b) => a - b),
  );
  t.ok((logins[2] ?? 0) > 2 * (logins[0] ?? 0), logins.join(', '));
});

t.test('when there are no more commands, waiting logins proceed at once', async (t) => {
  const { ask, order, move, work } = startTurns(2000);
  for (let number = 0; number < 1000; number += 1) void ask(number);
  await move(10);
  t.ok(order.length < 100);
  work.perSecond = 0;
  await move(10);
  t.equal(order.length, 1000);
});

t.test('the commands of the last second count, by its busiest tenth', (t) => {
  let time = 5000;
  const demand = createDemand(() => time);
  t.equal(demand.perSecond(), 0);
  for (let count = 0; count < 30; count += 1) demand.add();
  time += 100;
  demand.add();
  t.equal(demand.perSecond(), 300);
  time += 800;
  t.equal(demand.perSecond(), 300);
  time += 100;
  t.equal(demand.perSecond(), 10);
  time += 100;
  t.equal(demand.perSecond(), 0);
  time += 100_000;
  t.equal(demand.perSecond(), 0, 'also after a long rest');
  t.end();
});
