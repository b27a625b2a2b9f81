import t from 'tap';
import { createPlaces } from '../../src/core/events/request-slots.ts';
import { createFakeClock } from '../fake-clock.ts';

const of = (developerId: string, applicationId = `${developerId}-app`) => ({ developerId, applicationId });

t.test(
  'an application whose URL hangs leaves room for the others, and a developer with many for other developers',
  async (t) => {
    const places = createPlaces({ clock: createFakeClock(), bounds: { application: 2, service: 8 }, patience: 60_000 });
    const hanging = ['a', 'a', 'a', 'b', 'b', 'c', 'd'].map((name) => places.enter(of('greedy', name)));
    t.same(
      hanging.map((entered) => entered === true),
      [true, true, false, true, true, false, false],
      'two of each application, and no more than are left for the others',
    );
    t.equal(places.enter(of('neighbour')), true);
    t.equal(places.enter(of('third')), true);
  },
);

t.test('developers who wait get the places that become free by turns', async (t) => {
  const places = createPlaces({ clock: createFakeClock(), bounds: { application: 1, service: 4 }, patience: 60_000 });
  t.equal(places.enter(of('a')), true);
  const order: string[] = [];
  const wait = (name: string) => Promise.resolve(places.enter(of('a'))).then(() => order.push(name));
  const waiting = [wait('first'), wait('second'), wait('third')];
  for (const one of waiting) {
    places.leave(of('a'));
    await one;
  }
  t.same(order, ['first', 'second', 'third']);
});

t.test('who waits too long gets no place, and takes none from those behind it', async (t) => {
  const clock = createFakeClock();
  const places = createPlaces({ clock, bounds: { application: 1, service: 8 }, patience: 60_000 });
  t.equal(places.enter(of('a')), true);
  const late = places.enter(of('a'));
  clock.advance(30_000);
  const inTime = places.enter(of('a'));
  clock.advance(30_000);
  t.equal(await late, false);
  places.leave(of('a'));
  t.equal(await inTime, true);
  const ended = places.enter(of('a'));
  places.end();
  t.equal(await ended, false);
});
