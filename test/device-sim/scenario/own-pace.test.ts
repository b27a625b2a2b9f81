import { startOwnPace } from '@lapel/device-sim/scenario/own-pace';
import t from 'tap';
import { handTimers } from '../hand-timers.ts';

t.test('a standstill of the simulator is known with its time and length, even before the next beat', async (t) => {
  const timers = handTimers();
  const own = startOwnPace(timers);
  t.teardown(own.stop);
  for (let beat = 0; beat < 10; beat += 1) await timers.next();
  t.equal(timers.now(), 1000);
  t.match(own, { standstill: 0, full: 0 });
  timers.elapse(3100);
  t.equal(own.standstill, 3000, 'nothing has beaten yet');
  t.equal(own.stoodStill(0, 9000), 3000);
  await timers.next();
  await timers.next();
  t.equal(own.standstill, 3000);
  t.equal(own.stoodStill(2000, 3000), 1000, 'of a span that lies in it');
  t.equal(own.stoodStill(0, 1100), 0);
  timers.elapse(300);
  await timers.next();
  t.equal(own.standstill, 3000, 'a beat that is a little late is no standstill');
  t.ok(own.look().loopDelay >= 3000);
  t.match(own.look(), { loopDelay: Number, processor: Number });
});

t.test('the simulator knows when it came too late to its work, also by less than a standstill', async (t) => {
  const timers = handTimers();
  const own = startOwnPace(timers);
  t.teardown(own.stop);
  await timers.next();
  timers.elapse(300);
  t.equal(own.heldUp(0, 9000), 200, 'it is still late');
  await timers.next();
  await timers.next();
  t.equal(own.heldUp(0, 9000), 200);
  t.equal(own.heldUp(0, 250), 50, 'of a span that ends in it');
  t.equal(own.stoodStill(0, 9000), 0);
});
