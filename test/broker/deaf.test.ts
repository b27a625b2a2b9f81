import mqttPacket from 'mqtt-packet';
import t from 'tap';
import { startWorld } from '../world.ts';

t.test('a device that is connected without a subscription to commands is shown after 30 seconds', async (t) => {
  const world = await startWorld(t);
  await world.createTenant();
  const device = await world.registerDevice();
  const topic = `devices/${device.deviceId}/commands`;
  const link = await world.open(device);
  await link.login();
  const since = async () =>
    (await world.admin().get(`/admin/v1/devices/${device.deviceId}/connection`)).body.withoutCommandsSince;
  const count = async () => (await world.service.metrics.devicesWithoutCommands.get()).values[0]?.value ?? 0;
  const pass = (seconds: number): void => {
    for (let each = 0; each < seconds; each += 10) world.clock.advance(10_000);
  };
  t.equal(await since(), null);
  pass(20);
  t.equal(await since(), null);
  t.equal(await count(), 0);
  pass(20);
  t.match(await since(), /^2026-11-20T.*Z$/);
  t.equal(await count(), 1);
  await link.subscribe(topic);
  t.equal(await since(), null);
  t.equal(await count(), 0);
  link.send({ cmd: 'unsubscribe', messageId: 9, unsubscriptions: [topic] });
  await link.next('unsuback');
  pass(40);
  t.match(await since(), /^2026-11-20T.*Z$/);
  t.equal(await count(), 1);
  await link.drop();
  await world.idle();
  t.equal(await count(), 0);
});

t.test('one identity at two places is told: in the metric, and in the story of the device', async (t) => {
  const world = await startWorld(t);
  await world.createTenant();
  const device = await world.registerDevice();
  let link = await world.connect(device);
  const ends = async () => {
    world.clock.advance(1_000); // the facts are gathered for a second
    await world.idle();
    const { entries } = (await world.admin().get(`/admin/v1/devices/${device.deviceId}/story`)).body;
    return entries.flatMap(({ kind, connection }: { kind: string; connection: { reason: string } }) =>
      kind === 'ended' ? [connection.reason] : [],
    );
  };
  for (let each = 0; each < 5; each += 1) {
    const former = link;
    link = await world.connect(device);
    await former.closed;
  }
  t.same(await ends(), ['contested', 'replaced', 'replaced', 'replaced', 'replaced']);
  t.equal((await world.service.metrics.mqttIdentitiesContested.get()).values[0]?.value, 1);
  world.clock.advance(60_000);
  const former = link;
  await world.connect(device);
  await former.closed;
  t.equal((await ends())[0], 'replaced');
});

t.test('a refused protocol version is told with the device that claims it', async (t) => {
  const world = await startWorld(t, { env: { LAPEL_MQTT_5: 'false' } });
  await world.createTenant();
  const device = await world.registerDevice();
  const connects = [
    mqttPacket.generate({
      cmd: 'connect',
      protocolId: 'MQTT',
      protocolVersion: 5,
      clean: true,
      keepalive: 0,
      clientId: device.deviceId,
      properties: { sessionExpiryInterval: 60, userProperties: { long: 'x'.repeat(200) } },
    }),
    Buffer.from(`101b00044d515454ff020000000f${Buffer.from(device.deviceId.slice(0, 15)).toString('hex')}`, 'hex'),
  ];
  for (const [number, bytes] of connects.entries()) {
    const link = await world.open({ ...device, level: number === 0 ? 5 : 4 });
    link.socket.write(bytes);
    t.match(await link.next('connack'), number === 0 ? { reasonCode: 0x84 } : { returnCode: 1 });
    await link.closed;
  }
  world.clock.advance(1_000);
  await world.idle();
  const { entries } = (await world.admin().get(`/admin/v1/devices/${device.deviceId}/story`)).body;
  const refused = entries.filter(({ kind }: { kind: string }) => kind === 'refused');
  t.equal(refused.length, 2);
  t.match(refused[0], { connection: { reason: 'protocol_version', address: /./, transport: 'mqtt' } });
  const counted = (await world.service.metrics.mqttRefused.get()).values;
  t.equal(counted.find(({ labels }) => labels.reason === 'protocol_version')?.value, 2);
});
