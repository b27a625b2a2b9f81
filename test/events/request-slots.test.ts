import t from 'tap';
import { createRequestSlots } from '../../src/core/events/request-slots.ts';
import { createFakeClock } from '../fake-clock.ts';

const of = (developerId: string, applicationId = `${developerId}-app`) => ({ developerId, applicationId });

t.test(
  'an application whose URL hangs leaves slots for others, and so does a developer with many applications',
  async (t) => {
    const slots = createRequestSlots({
      clock: createFakeClock(),
      bounds: { application: 2, service: 8 },
      longestWaitMs: 60_000,
    });
    const hanging = ['a', 'a', 'a', 'b', 'b', 'c', 'd'].map((name) => slots.enter(of('greedy', name)));
    t.same(
      hanging.map((entered) => entered === true),
      [true, true, false, true, true, false, false],
      'two of each application, and no more than are left for the others',
    );
    t.equal(slots.enter(of('neighbour')), true);
    t.equal(slots.enter(of('third')), true);
  },
);

t.test('waiting developers get free slots in turn', async (t) => {
  const slots = createRequestSlots({
    clock: createFakeClock(),
    bounds: { application: 1, service: 4 },
    longestWaitMs: 60_000,
  });
  t.equal(slots.enter(of('a')), true);
  const order: string[] = [];
  const wait = (name: string) => Promise.resolve(slots.enter(of('a'))).then(() => order.push(name));
  const waiting = [wait('first'), wait('second'), wait('third')];
  for (const one of waiting) {
    slots.leave(of('a'));
    await one;
  }
  t.same(order, ['first', 'second', 'third']);
});

t.test('a request that waits too long gets no slot, and delays none behind it', async (t) => {
  const clock = createFakeClock();
  const slots = createRequestSlots({ clock, bounds: { application: 1, service: 8 }, longestWaitMs: 60_000 });
  t.equal(slots.enter(of('a')), true);
  const late = slots.enter(of('a'));
  clock.advance(30_000);
  const inTime = slots.enter(of('a'));
  clock.advance(30_000);
  t.equal(await late, false);
  slots.leave(of('a'));
  t.equal(await inTime, true);
  const ended = slots.enter(of('a'));
  slots.end();
  t.equal(await ended, false);
});
