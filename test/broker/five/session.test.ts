import t from 'tap';
import { WIFI } from '../../world.ts';
import { startFive } from './world.ts';

const KEPT = { properties: { sessionExpiryInterval: 60 } };

t.test('sessions', async (t) => {
  const { world } = await startFive(t);
  const topicOf = (deviceId: string): string => `devices/${deviceId}/commands`;

  async function login(
    device: { deviceId: string; credential: string },
    level: 4 | 5,
    connect: Record<string, unknown>,
  ) {
    const link = await world.open({ ...device, level, connect });
    const { sessionPresent, reasonCode, returnCode } = await link.login();
    t.equal(reasonCode ?? returnCode, 0);
    return { link, sessionPresent };
  }
  const leave = async ({ link }: { link: Awaited<ReturnType<typeof world.open>> }): Promise<void> => {
    link.send({ cmd: 'disconnect' });
    await link.closed;
  };

  await t.test(
    '[MQTT-3.1.2-5] [MQTT-3.1.2-6] [MQTT-3.2.2-3] a session is found again, from either version',
    async (t) => {
      const device = await world.registerDevice();
      let at = await login(device, 5, { clean: false, ...KEPT });
      t.equal(at.sessionPresent, false);
      await at.link.subscribe(topicOf(device.deviceId));
      for (const level of [4, 5, 5, 4] as const) {
        await leave(at);
        at = await login(device, level, { clean: false, ...(level === 5 && KEPT) });
        t.equal(at.sessionPresent, true, `level ${level}`);
      }
    },
  );

  await t.test('[MQTT-3.1.2-4] [MQTT-3.2.2-2] Clean Start begins a new one, which is found again', async (t) => {
    const device = await world.registerDevice();
    let at = await login(device, 4, { clean: false });
    await at.link.subscribe(topicOf(device.deviceId));
    await leave(at);
    at = await login(device, 5, { clean: true, ...KEPT });
    t.equal(at.sessionPresent, false);
    await leave(at);
    at = await login(device, 5, { clean: false, ...KEPT });
    t.equal(at.sessionPresent, false, 'the former subscriptions are gone');
    await at.link.subscribe(topicOf(device.deviceId));
    await leave(at);
    t.equal((await login(device, 5, { clean: false, ...KEPT })).sessionPresent, true);
  });

  await t.test(
    '[MQTT-3.1.2-23] without a session expiry it ends with the connection, and was found before',
    async (t) => {
      const device = await world.registerDevice();
      let at = await login(device, 4, { clean: false });
      await at.link.subscribe(topicOf(device.deviceId));
      await leave(at);
      at = await login(device, 5, { clean: false });
      t.equal(at.sessionPresent, true);
      at.link.send({ cmd: 'unsubscribe', messageId: 5, unsubscriptions: [topicOf(device.deviceId)] });
      t.same((await at.link.next('unsuback')).granted, [0], 'the connection has the subscriptions of the session');
      await at.link.subscribe(topicOf(device.deviceId));
      await at.link.drop();
      at = await login(device, 4, { clean: false });
      t.equal(at.sessionPresent, false);
      await leave(at);
      at = await login(device, 5, { clean: true });
      await at.link.subscribe(topicOf(device.deviceId));
      await leave(at);
      t.equal((await login(device, 5, { clean: false, ...KEPT })).sessionPresent, false);
    },
  );

  await t.test('[MQTT-3.14.2] a DISCONNECT may end a session that would be kept', async (t) => {
    const device = await world.registerDevice();
    const at = await login(device, 5, { clean: false, ...KEPT });
    await at.link.subscribe(topicOf(device.deviceId));
    at.link.send({ cmd: 'disconnect', reasonCode: 0, properties: { sessionExpiryInterval: 0 } });
    await at.link.closed;
    t.equal((await login(device, 5, { clean: false, ...KEPT })).sessionPresent, false);
  });

  await t.test('[MQTT-3.1.2-23] a session ends when its seconds without a connection are over', async (t) => {
    const device = await world.registerDevice();
    const back = async (away: number, level: 4 | 5, connect: Record<string, unknown> = KEPT): Promise<unknown> => {
      await world.idle();
      world.clock.advance(away * 1000);
      const at = await login(device, level, { clean: false, ...(level === 5 && connect) });
      await at.link.subscribe(topicOf(device.deviceId));
      await world.idle();
      world.clock.advance(3600_000); // the time of the connection does not count
      await at.link.drop();
      return at.sessionPresent;
    };
    const LONGER = { properties: { sessionExpiryInterval: 120 } };
    const FOR_EVER = { properties: { sessionExpiryInterval: 0xffff_ffff } };
    t.equal(await back(0, 5), false);
    t.equal(await back(59, 5), true);
    t.equal(await back(61, 5), false);
    t.equal(await back(59, 5, LONGER), true);
    t.equal(await back(119, 5, FOR_EVER), true, 'the last CONNECT counts');
    t.equal(await back(100_000, 5), true, 'this one does not end by itself');
    t.equal(await back(59, 4), true, 'from either version');
    t.equal(await back(100_000, 5), true, 'one of MQTT 3.1.1 does not end by itself');
    const at = await login(device, 5, { clean: false, ...KEPT });
    at.link.send({ cmd: 'disconnect', reasonCode: 0, properties: { sessionExpiryInterval: 600 } });
    await at.link.closed;
    t.equal(await back(590, 5), true, 'a DISCONNECT has made it longer');
  });

  await t.test('[MQTT5 3.2.2.3.2] the CONNACK does not change the time of a session', async (t) => {
    const device = await world.registerDevice();
    const link = await world.open({ ...device, level: 5, connect: { clean: true, ...KEPT } });
    t.equal((await link.login()).properties?.['sessionExpiryInterval'], undefined);
    await link.drop();
  });

  await t.test('a session outlives a restart of the service', async (t) => {
    const device = await world.registerDevice();
    const at = await login(device, 5, { clean: false, ...KEPT });
    await at.link.subscribe(topicOf(device.deviceId));
    const other = await world.registerDevice();
    const ends = await login(other, 5, { clean: false });
    await ends.link.subscribe(topicOf(other.deviceId));
    await world.restart();
    await at.link.closed;
    t.equal((await login(device, 5, { clean: false, ...KEPT })).sessionPresent, true);
    t.equal(
      (await login(other, 5, { clean: false, ...KEPT })).sessionPresent,
      false,
      'and one that is not kept does not',
    );
  });
});

t.test(
  'commands that were not acknowledged come again, in their order, whatever version takes the session over',
  async (t) => {
    const { world, tenant } = await startFive(t);
    const device = await world.activatedDevice(tenant, { level: 5, connect: KEPT });
    const sent: number[] = [];
    for (let number = 0; number < 5; number += 1)
      sent.push((await tenant.api.put(`${device.path}/settings/wifi`, { json: WIFI })).body.transactionId);
    let { link } = device;
    for (const level of [4, 5, 4, 5] as const) {
      const got: number[] = [];
      for (const _ of sent) got.push((await link.command()).transactionId);
      t.same(got, sent);
      const next = await world.connect({ ...device, level, connect: level === 5 ? KEPT : {} });
      await link.closed;
      link = next;
    }
    for (const _ of sent) {
      const { packet, transactionId } = await link.command();
      link.puback(packet);
      await link.ack({ transactionId, status: 'succeeded' });
      t.match((await tenant.event()).data.transaction, { transactionId, status: 'succeeded' });
    }
  },
);
