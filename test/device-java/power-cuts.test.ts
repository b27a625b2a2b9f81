import { join } from 'node:path';
import t from 'tap';
import { missing } from '../installed.ts';
import { until } from '../until.ts';
import { startWorld, transactionIdOf } from '../world.ts';
import { drive } from './driven.ts';
import { compiled } from './java.ts';

/** `LAPEL_POWER_CUTS=200 npm test -- test/device-java/power-cuts.test.ts` makes more of them. */
const CUTS = Number(process.env['LAPEL_POWER_CUTS'] ?? 5);
const EVENTS = 20;

t.test('power cuts take no event and no answer from a device in Java', { skip: missing.java() }, async (t) => {
  t.setTimeout(60_000 + 20_000 * CUTS);
  const folder = t.testdir({ data: {} });
  const classes = await compiled();
  const world = await startWorld(t, { dataDir: join(folder, 'data') });
  const tenant = await world.createTenant();
  const { deviceId, credential } = await world.registerDevice();
  const { hostname, port } = new URL(world.service.addresses.mqtt);
  const path = `${tenant.path}/devices/${deviceId}`;
  const device = drive(t, { classes, given: [hostname, port, deviceId, join(folder, 'file')], credential });
  const arrived = new Map<string, number>();
  const settled = new Map<number, unknown>();
  let isOver = false;
  const taking = (async () => {
    while (!isOver) {
      const { data } = await tenant.event();
      const { eventId, transaction } = data as { eventId?: string; transaction?: Record<string, unknown> };
      if (eventId !== undefined) arrived.set(eventId, (arrived.get(eventId) ?? 0) + 1);
      if (transaction) settled.set(Number(transaction['transactionId']), transaction['status']);
    }
  })();
  device.start();
  const issued = [transactionIdOf(await tenant.api.post(path, { json: {} }))];
  await until(() => settled.size === 1);
  for (let cut = 0; cut < CUTS; cut += 1) {
    for (let number = 0; number < EVENTS; number += 1)
      device.call({ call: 'event', type: 'custom.a', data: { number } });
    for (const lang of ['ja', 'en', 'es'])
      issued.push(transactionIdOf(await tenant.api.put(`${path}/settings/lang`, { json: { lang } })));
    // Each cut comes at another point: while events are written, and while commands are carried out.
    const before = device.told.length;
    await until(() => device.told.length >= before + 3 * cut);
    await device.cutPower();
    device.start();
  }
  await until(() => settled.size === issued.length);
  const stored = device.told.flatMap(({ event }) => (event === undefined ? [] : [event]));
  await until(() => stored.every((eventId) => arrived.has(eventId)));
  isOver = true;
  device.call({ call: 'event', type: 'custom.end', data: {} });
  await taking;
  t.ok(stored.length > 0, `${stored.length} events were stored`);
  t.same(
    [...arrived].filter(([, times]) => times !== 1),
    [],
    'each once',
  );
  t.same(
    issued.map((transactionId) => settled.get(transactionId)),
    issued.map(() => 'succeeded'),
  );
  const begun = device.told.flatMap(({ begin }) => (begin && !begin.interrupted ? [begin.transactionId] : []));
  t.equal(new Set(begun).size, begun.length, 'no command begins twice without knowing it');
});
