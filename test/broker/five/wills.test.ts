import t, { type Test } from 'tap';
import { createLog } from '../../../src/runtime/log.ts';
import { onBoth } from '../../database/kinds.ts';
import { NO_POSTGRES } from '../../postgres/databases.ts';
import { until } from '../../until.ts';
import { WIFI, type World } from '../../world.ts';
import { startFive } from './world.ts';

type Five = Awaited<ReturnType<typeof startFive>>;
type Connect = Record<string, unknown>;

/** A device whose wills fail commands. */
async function startWills(t: Test, given: Parameters<typeof startFive>[1] = {}) {
  const { world, tenant }: Five = await startFive(t, given);
  const device = await world.activatedDevice(tenant, { level: 5 });
  const login = async (connect: Connect = {}, node = 0) => {
    const link = await world.open({ ...device, level: 5, node, connect: { clean: false, ...connect } });
    t.equal((await link.login()).reasonCode, 0);
    return link;
  };
  return {
    world,
    tenant,
    device,
    login,
    /** A connection whose will fails a command; returns the command. */
    async connect(properties: Connect = {}, connect: Connect = {}, node = 0) {
      const { transactionId } = (await tenant.api.put(`${device.path}/settings/wifi`, { json: WIFI })).body;
      const payload = Buffer.from(JSON.stringify({ transactionId, status: 'failed' }));
      const will = { topic: `devices/${device.deviceId}/acks`, payload, qos: 1, retain: false, properties };
      return { link: await login({ will, ...connect }, node), transactionId };
    },
    failed: async (t: Test, transactionId: number): Promise<void> =>
      void t.match((await tenant.event()).data.transaction, { transactionId, status: 'failed' }),
    async goesOn(t: Test, transactionId: number): Promise<void> {
      await world.idle();
      const { body } = await tenant.api.get(`${device.path}/transactions/${transactionId}`);
      t.equal(body.completedAt, null, 'no will was carried out');
    },
  };
}

/** Lets time pass in steps, because each look at what is due is armed by the one before. */
async function pass(world: World, seconds: number): Promise<void> {
  await world.idle();
  for (let left = seconds; left > 0; left -= 5) {
    world.clock.advance(Math.min(left, 5) * 1000);
    await world.idle();
  }
}

const DELAYED = { willDelayInterval: 60 };
const KEPT = { properties: { sessionExpiryInterval: 3600 } };

t.test('wills', async (t) => {
  const { connect, failed, goesOn } = await startWills(t);

  await t.test('[MQTT-3.1.2-8] a will is carried out when the connection ends without a DISCONNECT', async (t) => {
    const { link, transactionId } = await connect({ contentType: 'application/json', userProperties: { a: 'b' } });
    await link.drop();
    await failed(t, transactionId);
  });
  await t.test('[MQTT-3.1.2-8] and after a DISCONNECT with 0x04', async (t) => {
    const { link, transactionId } = await connect();
    link.send({ cmd: 'disconnect', reasonCode: 4 });
    await link.closed;
    await failed(t, transactionId);
  });
  await t.test('[MQTT-3.1.2-10] [MQTT-3.14.4-3] a DISCONNECT with 0 removes it', async (t) => {
    for (const properties of [{}, DELAYED]) {
      const { link, transactionId } = await connect(properties, KEPT);
      link.send({ cmd: 'disconnect', reasonCode: 0 });
      await link.closed;
      await goesOn(t, transactionId);
    }
  });
});

onBoth(t, async (t, database) => {
  const warnings: string[] = [];
  const destination = { write: (line: string) => warnings.push(line) } as unknown as NodeJS.WritableStream;
  const log = createLog({ level: 'warn', destination });
  const { world, tenant, connect, login, failed, goesOn } = await startWills(t, { database, log });
  /** Ends a connection whose end cannot be stored. Resolves to the function that mends the database. */
  async function dropUnstored({ drop }: Awaited<ReturnType<typeof connect>>['link']): Promise<() => Promise<void>> {
    const mend = await (await world.raw()).breakWrites('UPDATE ON wills');
    const before = warnings.length;
    await drop();
    await until(() => warnings.length > before);
    return mend;
  }

  await t.test('[MQTT-3.1.2-8] a will with a delay is carried out when the delay has passed', async (t) => {
    for (const leave of ['drop', 'disconnect'] as const) {
      const { link, transactionId } = await connect(DELAYED, KEPT);
      if (leave === 'drop') await link.drop();
      else link.send({ cmd: 'disconnect', reasonCode: 4 });
      await link.closed;
      await pass(world, 55);
      await goesOn(t, transactionId);
      await pass(world, 10);
      await failed(t, transactionId);
    }
  });

  await t.test('[MQTT-3.1.3-9] it is not carried out when the device is back before', async (t) => {
    const { link, transactionId } = await connect(DELAYED, KEPT);
    await link.drop();
    await pass(world, 50);
    const back = await login(KEPT);
    await pass(world, 60);
    await goesOn(t, transactionId);
    await back.drop();
  });

  await t.test('and a newer connection beside the old one removes it as well', async (t) => {
    const { link, transactionId } = await connect(DELAYED, KEPT);
    const newer = await login(KEPT);
    await link.closed;
    await pass(world, 120);
    await goesOn(t, transactionId);
    await newer.drop();
  });

  await t.test('it is carried out with the end of the session, if that comes before', async (t) => {
    const { link, transactionId } = await connect(DELAYED, { properties: { sessionExpiryInterval: 10 } });
    await link.drop();
    await pass(world, 15);
    await failed(t, transactionId);
    const ends = await connect(DELAYED);
    await ends.link.drop();
    await failed(t, ends.transactionId);
    const changed = await connect(DELAYED, KEPT);
    changed.link.send({ cmd: 'disconnect', reasonCode: 4, properties: { sessionExpiryInterval: 0 } });
    await changed.link.closed;
    await failed(t, changed.transactionId);
  });

  await t.test('an end that cannot be stored is stored later', async (t) => {
    const { link, transactionId } = await connect(DELAYED, KEPT);
    const mend = await dropUnstored(link);
    await pass(world, 90);
    await goesOn(t, transactionId);
    await mend();
    await pass(world, 30);
    await failed(t, transactionId);
  });

  await t.test('and not when the device is back before', async (t) => {
    const first = await connect(DELAYED, KEPT);
    const mend = await dropUnstored(first.link);
    await mend();
    const second = await connect(DELAYED, KEPT);
    await pass(world, 120);
    await goesOn(t, first.transactionId);
    await goesOn(t, second.transactionId);
    second.link.send({ cmd: 'disconnect', reasonCode: 0 });
    await second.link.closed;
  });

  await t.test('its delay holds over a restart of the service', async (t) => {
    const { link, transactionId } = await connect(DELAYED, KEPT);
    await link.drop();
    await pass(world, 30);
    await world.restart();
    await tenant.renew();
    await pass(world, 20);
    await goesOn(t, transactionId);
    await pass(world, 15);
    await failed(t, transactionId);
  });

  await t.test('a connection that the stop of the service has ended has its whole delay', async (t) => {
    const { transactionId } = await connect(DELAYED, KEPT);
    await world.restart(() => world.clock.advance(600_000));
    await tenant.renew();
    // A node of a server finds after a minute that another one is dead, and decides after one more.
    await pass(world, 55 + (world.isServer ? 60 : 0));
    await goesOn(t, transactionId);
    await pass(world, world.isServer ? 150 : 10);
    await failed(t, transactionId);
  });
});

t.test('on several nodes', { skip: NO_POSTGRES }, async (t) => {
  const { world, connect, login, failed, goesOn } = await startWills(t, { nodes: 2 });

  await t.test('a will with a delay is carried out once', async (t) => {
    const { link, transactionId } = await connect(DELAYED, KEPT, 1);
    await link.drop();
    await pass(world, 50);
    await goesOn(t, transactionId);
    await pass(world, 30);
    await failed(t, transactionId);
    await pass(world, 30);
  });

  await t.test('and not when the device is back at another node before', async (t) => {
    const { link, transactionId } = await connect(DELAYED, KEPT, 1);
    await link.drop();
    await pass(world, 30);
    const back = await login(KEPT, 0);
    await pass(world, 60);
    await goesOn(t, transactionId);
    const beside = await connect(DELAYED, KEPT, 1);
    await back.closed;
    const newer = await login(KEPT, 0);
    await beside.link.closed;
    await pass(world, 90);
    await goesOn(t, beside.transactionId);
    await newer.drop();
  });
});
