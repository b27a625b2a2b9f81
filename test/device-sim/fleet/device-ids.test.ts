import { deviceIdFor, isDeviceId, luhnDigit } from '@lapel/device-sim/fleet/device-ids';
import t from 'tap';

t.test('the check digit is that of the published example of an IMEI', (t) => {
  t.equal(luhnDigit('49015420323751'), '8');
  t.equal(isDeviceId('490154203237518'), true);
  t.equal(isDeviceId('490154203237517'), false);
  t.equal(isDeviceId('49015420323751'), false);
  t.end();
});

t.test('device ids are valid, different, and the same for the same seed', (t) => {
  const ids = Array.from({ length: 2000 }, (_, index) => deviceIdFor(7, index));
  t.ok(ids.every(isDeviceId));
  t.equal(new Set(ids).size, ids.length);
  t.equal(deviceIdFor(7, 1999), ids[1999]);
  t.not(deviceIdFor(8, 0), ids[0]);
  t.equal(isDeviceId(deviceIdFor(4_294_967_295, 999_999)), true);
  t.end();
});
