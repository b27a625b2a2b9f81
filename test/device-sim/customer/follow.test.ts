import { EventEmitter } from 'node:events';
import { createLedger } from '@lapel/device-sim/customer/create-ledger';
import { createFollowed } from '@lapel/device-sim/customer/follow';
import t from 'tap';
import { handTimers } from '../hand-timers.ts';

t.test('the length of the last unbroken connection of a device is known, also after its end', async (t) => {
  const timers = handTimers();
  const followed = createFollowed({ ledger: createLedger({ began: 0 }), timers });
  const device = { deviceId: '352900130000016', online: false };
  const events = new EventEmitter();
  followed.follow({ devices: [device], events } as never);
  const onlineFor = (after: number): number => followed.onlineFor(device.deviceId, after);

  t.equal(onlineFor(0), 0, 'never');
  timers.elapse(1000);
  events.emit('online', device);
  timers.elapse(9000);
  t.equal(onlineFor(0), 9000, 'until now');
  t.equal(onlineFor(4000), 6000, 'after a time');
  events.emit('offline', device, 'gone');
  timers.elapse(1000);
  t.equal(onlineFor(4000), 6000, 'until it went');
  t.equal(onlineFor(10_500), 0, 'not after it went');
  events.emit('online', device);
  timers.elapse(100);
  events.emit('offline', device, 'gone');
  t.equal(onlineFor(4000), 6000, 'a short connection hides no long one');
});
