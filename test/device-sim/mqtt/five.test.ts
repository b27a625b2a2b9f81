import { createDevice } from '@lapel/device-sim/model/device';
import { createLink } from '@lapel/device-sim/mqtt/mqtt-link';
import { createPackageLink } from '@lapel/device-sim/mqtt/package-link';
import t from 'tap';
import { until } from '../../until.ts';
import { startWorld, WIFI } from '../../world.ts';

for (const [name, make] of [
  ['the simulator’s own client', createLink],
  ['MQTT.js', createPackageLink],
] as const)
  t.test(`a device that speaks MQTT 5 with ${name} answers its commands, and finds its session again`, async (t) => {
    const world = await startWorld(t);
    const tenant = await world.createTenant();
    const account = await world.registerDevice();
    const { deviceId } = account;
    const path = `${tenant.path}/devices/${deviceId}`;
    const device = createDevice({
      ...account,
      url: world.service.addresses.mqtt,
      level: 5,
      createLink: make,
      reconnect: null,
    });
    t.teardown(() => device.disconnect());
    await device.connect();
    const { body } = await world.admin().get(`/admin/v1/devices/${deviceId}/connection`);
    t.equal(body.protocol, '5');
    await tenant.api.post(path, { json: {} });
    t.equal((await tenant.event()).type, 'transaction.succeeded');
    await device.drop();
    const { transactionId } = (await tenant.api.put(`${path}/settings/wifi`, { json: WIFI })).body;
    await device.connect();
    t.match((await tenant.event()).data.transaction, { transactionId, status: 'succeeded' });
    await device.idle();
  });

t.test(
  'a device above its rate sends its messages again, and has no more under way than the service takes',
  async (t) => {
    const world = await startWorld(t, { env: { LAPEL_DEVICE_RATE_LIMIT: '100' } });
    await world.createTenant();
    const account = await world.registerDevice();
    const pauses: (() => void)[] = [];
    const ends: string[] = [];
    let online: () => void = () => {};
    const link = createLink({
      ...account,
      url: world.service.addresses.mqtt,
      clean: true,
      level: 5,
      timers: {
        now: () => 0,
        after: (milliseconds: number, task: () => void) => {
          if (milliseconds === 1000) pauses.push(task);
          return () => {};
        },
      } as never,
      onOnline: () => online(),
      onBatch: () => {},
      onForeign: () => {},
      onMessage: () => undefined,
      onClose: (reason) => ends.push(reason),
    });
    t.teardown(() => link.cut());
    const isOnline = new Promise<void>((resolve) => (online = resolve));
    await link.open();
    await isOnline;
    let done = 0;
    for (let sent = 0; sent < 300; sent += 1) link.publish('status', '{}', () => (done += 1));
    await until(() => {
      world.clock.advance(1000);
      for (const pause of pauses.splice(0)) pause();
      return done === 300;
    });
    t.same(ends, []);
  },
);
