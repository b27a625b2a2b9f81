import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { deviceIdFor } from '@lapel/device-sim/fleet/device-ids';
import { createFleet } from '@lapel/device-sim/fleet/fleet';
import { oneGroup } from '@lapel/device-sim/fleet/member';
import t from 'tap';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

const COUNT = 2000;

t.test('an idle device needs little memory: thousands fit into one process', async (t) => {
  const accounts = Array.from({ length: COUNT }, (_, place) => ({
    deviceId: deviceIdFor(1, place),
    credential: String(place).padStart(43, 'x'),
  }));
  // The first device makes objects that all share; they are not counted.
  const first = createFleet({ members: oneGroup(accounts.slice(0, 10)), url: 'mqtt://127.0.0.1:1' });
  collect();
  const before = process.memoryUsage().heapUsed;
  const fleet = createFleet({ members: oneGroup(accounts), url: 'mqtt://127.0.0.1:1' });
  collect();
  const each = (process.memoryUsage().heapUsed - before) / COUNT;
  t.ok(each < 10_000, `${Math.round(each)} bytes each`);
  t.equal(fleet.counts().devices + first.counts().devices, COUNT + 10);
});
