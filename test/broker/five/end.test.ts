import t from 'tap';
import { missing } from '../../installed.ts';
import { startWorld } from '../../world.ts';
import { bytesOf, endOf, openFive, startFive } from './world.ts';

t.test('what ends a connection', async (t) => {
  const { world } = await startFive(t);
  const rows: [title: string, bytes: string, code: number | 'closed'][] = [
    ['[MQTT-3.1.0-2] a second CONNECT', '10 0f 0004 4d515454 05 02 0000 00 0002 7070', 0x82],
    ['[MQTT-4.12.0-7] AUTH', 'f0 00', 0x82],
    ['[MQTT-3.15.1-1] AUTH with reserved flags', 'f1 00', 0x82],
    ['[MQTT-2.1.3-1] reserved flags of PINGREQ', 'c1 00', 0x81],
    ['PINGREQ with a body', 'c0 01 00', 0x81],
    ['a packet that only a server sends', '20 03 00 00 00', 0x81],
    ['packet type 0', '00 00', 0x81],
    ['[MQTT-3.14.1-1] reserved flags of DISCONNECT', 'e1 00', 0x81],
    ['[MQTT-3.14.2-1] an unknown reason code', 'e0 02 55 00', 0x82],
    ['a reason code that only a server sends', 'e0 02 8e 00', 0x82],
    ['a property of another packet', 'e0 05 00 03 210001', 0x82],
    ['a server reference, which only a server sends', 'e0 06 00 04 1c000161', 0x81],
    ['a session that ends with its connection cannot be kept', 'e0 07 00 05 11 00000001', 0x82],
    ['[MQTT-3.14.4-2] DISCONNECT', 'e0 00', 'closed'],
    ['DISCONNECT with a reason and properties', 'e0 05 00 03 1f 0000', 'closed'],
    ['DISCONNECT because of an error', 'e0 01 80', 'closed'],
  ];
  for (const [title, bytes, code] of rows) {
    const { link } = await openFive(world);
    t.equal(await endOf(link, bytes), code, title);
  }
});

t.test('[MQTT-3.14.4-1] what stands behind a DISCONNECT is not carried out', async (t) => {
  const { world } = await startFive(t);
  const { link, deviceId } = await openFive(world);
  const status = bytesOf({ cmd: 'publish', topic: `devices/${deviceId}/status`, payload: '{}', qos: 0 });
  const taken = async () =>
    (await world.service.metrics.mqttMessages.get()).values.find(({ labels }) => labels.topic === 'status')?.value;
  t.equal(await endOf(link, Buffer.concat([status, Buffer.from('e000', 'hex'), status, status])), 'closed');
  await world.idle();
  t.equal(await taken(), 1);
});

t.test('[MQTT-3.12.4-1] PINGREQ is answered', async (t) => {
  const { world } = await startFive(t);
  const { link } = await openFive(world);
  link.send({ cmd: 'pingreq' });
  await link.next('pingresp');
});

t.test('[MQTT-3.14.0-1] a DISCONNECT never comes before the CONNACK', async (t) => {
  const { world } = await startFive(t);
  const device = await world.registerDevice();
  const link = await world.open({ ...device, level: 5, connect: { clean: true } });
  const connect = bytesOf({
    cmd: 'connect',
    protocolId: 'MQTT',
    protocolVersion: 5,
    clean: true,
    clientId: device.deviceId,
    keepalive: 0,
    username: device.deviceId,
    password: Buffer.from('wrong'),
  });
  link.socket.write(Buffer.concat([connect, Buffer.from('f000', 'hex')]));
  t.equal((await link.next('connack')).reasonCode, 0x86);
  await link.closed;
  t.same(link.pending('disconnect'), []);
});

t.test('a device that is cut off learns why', async (t) => {
  const { world } = await startFive(t);
  await t.test('by the operator, and with a new credential: 0x98', async (t) => {
    const closed = await openFive(world);
    await world.admin().delete(`/admin/v1/devices/${closed.deviceId}/connection`);
    t.equal(await endOf(closed.link), 0x98);
    const renewed = await openFive(world);
    await world.admin().post(`/admin/v1/devices/${renewed.deviceId}/credential`, { json: {} });
    t.equal(await endOf(renewed.link), 0x98);
  });
  await t.test('by the stop of the service: 0x8b', async (t) => {
    const { link } = await openFive(world);
    await world.restart();
    t.equal(await endOf(link), 0x8b);
  });
});

t.test(
  'a device that moves to another node is told to connect again: 0x9c',
  { skip: missing.postgres() },
  async (t) => {
    const world = await startWorld(t, { nodes: 2 });
    await world.createTenant();
    const device = await world.registerDevice();
    const link = await world.open({ ...device, level: 5, connect: { clean: true } });
    t.equal((await link.login()).reasonCode, 0);
    const newer = await world.connect({ ...device, node: 1 });
    t.equal(await endOf(link), 0x9c);
    newer.socket.destroy();
  },
);
