import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import t from 'tap';
import { createRemembered } from '../../src/runtime/remembered.ts';
import { createFakeClock } from '../fake-clock.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

t.test('answers are remembered for ten seconds, and freed when another one is requested', async (t) => {
  const clock = createFakeClock();
  const remembered = createRemembered({ clock });
  let asked = 0;
  const ask = async (): Promise<object> => {
    asked += 1;
    return { asked };
  };
  const first = new WeakRef(await remembered('one', ask));
  await remembered('two', ask);
  clock.advance(9_999);
  t.same(await remembered('one', ask), { asked: 1 });
  clock.advance(1);
  t.same(await remembered('three', ask), { asked: 3 });
  await new Promise(setImmediate);
  collect();
  t.equal(first.deref(), undefined);
  t.same(await remembered('one', ask), { asked: 4 });
});

t.test('an older answer that fails does not drop a newer one', async (t) => {
  const clock = createFakeClock();
  const remembered = createRemembered({ clock });
  const older = Promise.withResolvers<string>();
  const first = remembered('one', () => older.promise);
  clock.advance(10_000);
  await remembered('one', async () => 'newer');
  older.reject(new Error('too late'));
  await t.rejects(first);
  t.equal(await remembered('one', async () => 'newest'), 'newer');
});

t.test('an answer that fails is asked for again', async (t) => {
  const remembered = createRemembered({ keptMicros: Number.POSITIVE_INFINITY });
  await t.rejects(remembered('one', () => Promise.reject(new Error('no'))));
  t.equal(await remembered('one', async () => 'yes'), 'yes');
  t.equal(await remembered('one', async () => 'again'), 'yes');
});
