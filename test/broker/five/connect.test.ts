import { setImmediate as turn } from 'node:timers/promises';
import t from 'tap';
import { bytesOf, openFive, refusalOf, startFive } from './world.ts';

const NAME = '00044d515454';
/** A CONNECT from what follows its name: level, flags, keep-alive, properties, payload. */
const connectOf = (rest: string): Buffer => {
  const body = Buffer.from((NAME + rest).replaceAll(' ', ''), 'hex');
  return Buffer.concat([Buffer.from([0x10, body.length]), body]);
};
const ID = '0001 70'; // the client id `p`
const X = '0001 78'; // `x`

t.test('[MQTT-3.1.4-5] [MQTT-3.2.0-1] a login gets a CONNACK that says what the service takes', async (t) => {
  const { world } = await startFive(t);
  const { connack, link, deviceId } = await openFive(world);
  t.equal(connack.reasonCode, 0);
  t.equal(connack.sessionPresent, false);
  t.same(connack.properties, {
    receiveMaximum: 100,
    retainAvailable: false,
    maximumPacketSize: 262_144,
    topicAliasMaximum: 0,
    wildcardSubscriptionAvailable: false,
    subscriptionIdentifiersAvailable: false,
    sharedSubscriptionAvailable: false,
  });
  const shown = (await world.admin().get(`/admin/v1/devices/${deviceId}/connection`)).body;
  t.match(shown, { protocol: '5', session: { present: false } });
  t.same(link.pending('connack'), [], '[MQTT-3.2.0-2] and no second one');
});

t.test('a CONNECT that cannot be accepted gets a CONNACK with its reason [MQTT-3.2.2-7]', async (t) => {
  const { world } = await startFive(t);
  const device = await world.registerDevice();
  const rows: [title: string, connect: string, code: number][] = [
    ['[MQTT-3.1.2-3] the reserved flag', `05 03 000a 00 ${ID}`, 0x81],
    ['[MQTT-3.1.2-11] will QoS without a will', `05 0a 000a 00 ${ID}`, 0x81],
    ['[MQTT-3.1.2-12] will QoS 3', `05 1e 000a 00 ${ID} 00 ${X} ${X}`, 0x81],
    ['[MQTT-3.1.2-13] will retain without a will', `05 22 000a 00 ${ID}`, 0x81],
    ['[MQTT-3.1.2-9] a will that is missing', `05 06 000a 00 ${ID}`, 0x81],
    ['[MQTT-3.1.2-17] a user name that is missing', `05 82 000a 00 ${ID}`, 0x81],
    ['[MQTT-3.1.2-19] a password that is missing', `05 c2 000a 00 ${ID} ${X}`, 0x81],
    ['a password without a user name, which MQTT 5 allows and no device has', `05 42 000a 00 ${ID} ${X}`, 0x86],
    ['[MQTT-3.1.3-1] bytes behind the last field', `05 02 000a 00 ${ID} ${X}`, 0x81],
    ['[MQTT-3.1.3-3] no client id', '05 02 000a 00', 0x81],
    ['[MQTT-3.1.3-4] a client id that is not UTF-8', '05 02 000a 00 0003 eda080', 0x81],
    ['[MQTT-3.1.3-8] an empty client id', '05 02 000a 00 0000', 0x85],
    ['[MQTT-3.1.3-8] a client id that is no deviceId', `05 02 000a 00 ${ID}`, 0x85],
    ['[MQTT-3.1.3-11] a will topic that is not UTF-8', `05 06 000a 00 ${ID} 00 0003 eda080 ${X}`, 0x81],
    ['[MQTT-3.1.3-12] a user name that is not UTF-8', `05 82 000a 00 ${ID} 0003 eda080`, 0x81],
    ['[MQTT-2.2.2-1] no property length', '05 02 000a', 0x81],
    ['properties that are longer than the packet', `05 02 000a 7f ${ID}`, 0x81],
    ['an unknown property', `05 02 000a 02 7f 00 ${ID}`, 0x81],
    ['a property of another packet', `05 02 000a 03 23 0001 ${ID}`, 0x82],
    ['a property twice', `05 02 000a 06 21 0001 21 0002 ${ID}`, 0x82],
    ['a property that does not fit', `05 02 000a 02 21 00 ${ID}`, 0x81],
    ['receive maximum 0', `05 02 000a 03 21 0000 ${ID}`, 0x82],
    ['maximum packet size 0', `05 02 000a 05 27 00000000 ${ID}`, 0x82],
    ['a maximum packet size too small for any command', `05 02 000a 05 27 00000080 ${ID}`, 0x95],
    ['request problem information 2', `05 02 000a 02 17 02 ${ID}`, 0x82],
    ['[MQTT-1.5.7-1] a user property that is not UTF-8', `05 02 000a 08 26 0001 61 0002 c328 ${ID}`, 0x81],
    ['[MQTT-1.5.5-1] a property length with more bytes than it needs', `05 02 000a 8000 ${ID}`, 0x81],
    ['[MQTT-4.12.0-1] an authentication method', `05 02 000a 04 15 ${X} ${ID}`, 0x8c],
    ['authentication data without a method', `05 02 000a 04 16 ${X} ${ID}`, 0x82],
    ['[MQTT-3.2.2-13] a will that is to be retained', `05 26 000a 00 ${ID} 00 ${X} ${X}`, 0x9a],
    ['a property of CONNECT in a will', `05 06 000a 00 ${ID} 03 210001 ${X} ${X}`, 0x82],
  ];
  for (const [title, rest, code] of rows) {
    const link = await world.open({ ...device, level: 5 });
    link.socket.write(connectOf(rest));
    const connack = await link.next('connack');
    t.equal(connack.reasonCode, code, title);
    t.equal(connack.sessionPresent, false, '[MQTT-3.2.2-6]');
    await link.closed;
    world.clock.advance(1000); // fast refusals are delayed
  }
});

t.test('[MQTT-3.1.0-1] [MQTT-3.1.2-1] what is no CONNECT of MQTT is not answered', async (t) => {
  const { world } = await startFive(t);
  const device = await world.registerDevice();
  const older = await world.open({ ...device, level: 4 });
  older.socket.write(Buffer.from('100f00064d514973647005020000000170', 'hex'));
  t.equal((await older.next('connack')).returnCode, 1, 'the name of an older version has no level 5');
  for (const bytes of [
    bytesOf({ cmd: 'pingreq' }),
    Buffer.from('10 0d 0004 4d515458 05 02 000a 00 0000'.replaceAll(' ', ''), 'hex'),
  ]) {
    const link = await world.open({ ...device, level: 5 });
    link.socket.write(bytes);
    await link.closed;
    t.same(link.pending('connack'), []);
  }
});

t.test('[MQTT-3.1.4-2] a login is checked as one of MQTT 3.1.1 is', async (t) => {
  const { world } = await startFive(t);
  const device = await world.registerDevice();
  const other = await world.registerDevice();
  t.equal(await refusalOf(world, { ...device, credential: other.credential }), 0x86);
  t.equal(await refusalOf(world, { deviceId: device.deviceId }), 0x86);
  t.equal(await refusalOf(world, { ...device, connect: { username: other.deviceId } }), 0x86);
  const will = { topic: `devices/${other.deviceId}/status`, payload: Buffer.from('{}'), qos: 1, retain: false };
  t.equal(await refusalOf(world, { ...device, connect: { will } }), 0x87);
  await world.admin().patch(`/admin/v1/devices/${device.deviceId}`, { json: { blocked: true } });
  t.equal(await refusalOf(world, device), 0x87);
});

t.test('[MQTT-3.1.2-29] reason strings are left out for a device that does not want them', async (t) => {
  const { world } = await startFive(t);
  for (const requestProblemInformation of [true, false]) {
    const { link, connack } = await openFive(world, { properties: { requestProblemInformation } });
    t.equal(connack.reasonCode, 0);
    link.publish('events', 'no JSON');
    const puback = await link.next('puback');
    t.equal(puback.reasonCode, 0x99);
    t.equal(puback.properties?.reasonString !== undefined, requestProblemInformation);
  }
});

t.test('packets that come before the CONNACK are carried out after it, in their order', async (t) => {
  const { world } = await startFive(t);
  for (let round = 0; round < 10; round += 1) {
    const device = await world.registerDevice();
    const link = await world.open({ ...device, level: 5, connect: { clean: true } });
    const connack = link.login();
    for (let sent = 0; sent < 40; sent += 1) {
      link.publish('status', '{}', { properties: { contentType: 'application/json' } });
      if (sent % 5 === 0) await turn();
    }
    t.equal((await connack).reasonCode, 0);
    const order: unknown[] = [];
    for (let sent = 0; sent < 40; sent += 1) order.push((await link.next('puback')).messageId);
    t.same(
      order,
      Array.from({ length: 40 }, (_, index) => index + 1),
    );
  }
});

t.test(
  '[MQTT-3.1.4-3] a newer login ends the older connection, which learns it, whatever versions they speak',
  async (t) => {
    const { world } = await startFive(t);
    const device = await world.registerDevice();
    const first = await world.open({ ...device, level: 5 });
    await first.login();
    const second = await world.open({ ...device, level: 5 });
    await second.login();
    t.equal((await first.next('disconnect')).reasonCode, 0x8e);
    await first.closed;
    const older = await world.open(device);
    t.equal((await older.login()).returnCode, 0);
    t.equal((await second.next('disconnect')).reasonCode, 0x8e);
    await second.closed;
    const third = await world.open({ ...device, level: 5 });
    t.equal((await third.login()).reasonCode, 0);
    await older.closed;
    t.same(older.pending('disconnect'), [], 'MQTT 3.1.1 has no such packet');
  },
);

t.test('[MQTT-3.1.2-22] a device that is silent for one and a half times its keep-alive is told so', async (t) => {
  const { world } = await startFive(t);
  const { link } = await openFive(world, { keepalive: 1 });
  t.equal((await link.next('disconnect')).reasonCode, 0x8d);
  await link.closed;
});
