import t from 'tap';
import { WorldTime } from './time.ts';
import { createTurns } from './turns.ts';

t.test('a kill that had to wait for a start comes after the event in which the service has started', async (t) => {
  const time = new WorldTime();
  const inTurn = createTurns(() => new Promise((resolve) => time.plan(0, 'turn', resolve)));
  const told: string[] = [];
  const started = Promise.withResolvers<void>();
  const turns = [
    inTurn(() => started.promise),
    inTurn(async () => void told.push('kill')),
    inTurn(async () => void told.push('another kill')),
  ];
  const start = async (): Promise<void> => {
    started.resolve();
    for (let steps = 0; steps < 20; steps += 1) await Promise.resolve();
    told.push('end of the event');
  };
  time.plan(10, 'disk', () => void start());
  await time.run(Promise.all(turns));
  t.same(told, ['end of the event', 'kill', 'another kill']);
  await inTurn(async () => void told.push('at once'));
  t.equal(told.at(-1), 'at once', 'what waits for nothing is no event');
});
