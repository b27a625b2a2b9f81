import t from 'tap';
import { createLog } from '../src/runtime/log.ts';
import { createSlowLook } from '../src/runtime/slow-look.ts';
import { createFakeClock } from './fake-clock.ts';

t.test('what does not move when it is moved makes the readiness fail, until it moves', async (t) => {
  const clock = createFakeClock();
  let isDue = true;
  const look = createSlowLook({
    clock,
    log: createLog({ level: 'silent' }),
    what: 'commands',
    keys: () => ['device'],
    overlooked: async () => (isDue ? 1 : undefined),
    move: () => undefined,
    count: () => undefined,
  });
  const pass = async (): Promise<void> => {
    clock.advance(1_000);
    await new Promise(setImmediate);
  };
  while (look.doubt() === undefined) await pass();
  t.equal(look.trouble(), undefined, 'its move may take a moment');
  await pass();
  t.equal(look.trouble(), 'commands are due, and cannot be moved');
  isDue = false;
  await pass();
  t.same([look.trouble(), look.doubt()], [undefined, undefined]);
  look.stop();
});

t.test('rows of the same name that belong to different keys are told apart', async (t) => {
  const clock = createFakeClock();
  const moved: string[] = [];
  const look = createSlowLook({
    clock,
    log: createLog({ level: 'silent' }),
    what: 'rollouts',
    keys: () => ['first', 'second'],
    overlooked: async (key) => (moved.includes(key) ? undefined : 'running 0'),
    move: (key) => void moved.push(key),
    count: () => undefined,
  });
  for (let pass = 0; pass < 20 && moved.length < 2; pass += 1) {
    clock.advance(1_000);
    await new Promise(setImmediate);
    t.equal(look.trouble(), undefined, 'each of them moves at once');
  }
  t.same(moved, ['first', 'second']);
  look.stop();
});

t.test('a key that cannot be looked at hides no other, neither before nor after it was overlooked', async (t) => {
  const clock = createFakeClock();
  const moved: string[] = [];
  let isBroken = true;
  const look = createSlowLook({
    clock,
    log: createLog({ level: 'silent' }),
    what: 'rollouts',
    keys: () => ['broken', 'other', 'late'],
    overlooked: async (key) => {
      if (key === 'broken' && isBroken) throw new Error('it cannot be read');
      return key === 'late' && !moved.includes('other') ? undefined : 'running 0';
    },
    move: (key) => void moved.push(key),
    count: () => undefined,
  });
  const pass = async (): Promise<void> => {
    for (let each = 0; each < 10; each += 1) {
      clock.advance(1_000);
      await new Promise(setImmediate);
    }
  };
  await pass();
  t.ok(moved.includes('other'));
  isBroken = false;
  await pass();
  t.ok(moved.includes('broken'));
  isBroken = true;
  moved.length = 0;
  await pass();
  t.ok(moved.includes('other') && moved.includes('late'));
  look.stop();
});
