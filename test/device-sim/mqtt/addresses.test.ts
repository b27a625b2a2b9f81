import { once } from 'node:events';
import { createDevice } from '@lapel/device-sim/model/device';
import { beginningWith } from '@lapel/device-sim/mqtt/addresses';
import { createPackageLink } from '@lapel/device-sim/mqtt/package-link';
import { freePort } from '@lapel/tools/harness/free-port';
import t from 'tap';

import { deviceIdOf } from '../../world.ts';
import { startBroker } from '../plain-broker.ts';

t.test('each device of a fleet begins with another node', (t) => {
  const urls = ['a', 'b', 'c'];
  t.strictSame(
    [0, 1, 2, 3].map((place) => beginningWith(urls, place)),
    [urls, ['b', 'c', 'a'], ['c', 'a', 'b'], urls],
  );
  t.end();
});

for (const [client, createLink] of Object.entries({ lean: undefined, mqtt: createPackageLink })) {
  t.test(`a device goes to the next node when a connection fails or breaks, with the client ${client}`, async (t) => {
    await using first = await startBroker();
    await using second = await startBroker();
    const nobody = await freePort();
    await using device = createDevice({
      deviceId: deviceIdOf(1),
      credential: 'secret',
      url: [`mqtt://127.0.0.1:${nobody}`, first.url, second.url],
      connectAttempts: 2,
      reconnect: { min: 1, max: 2 },
      ...(createLink && { createLink }),
    });
    await device.connect();
    t.equal(device.address, first.url);
    device.loseConnection();
    await once(device.events, 'online');
    t.equal(device.address, second.url);
    await device.disconnect();
    await device.connect();
    t.equal(device.address, second.url, 'a connection that it ended itself says nothing about the node');
  });
}
