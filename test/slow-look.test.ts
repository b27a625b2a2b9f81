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
