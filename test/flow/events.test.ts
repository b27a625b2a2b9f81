import { Webhook } from 'standardwebhooks';
import t, { type Test } from 'tap';
import { checkMessage, checkWebhook } from '../contract/checked-messages.ts';
import type { RawDevice } from '../raw-device.ts';
import { createTestReceiver } from '../webhooks/test-receiver.ts';
import { startWorld, type World } from '../world.ts';

const CALL = 'call-1';
const MAC = 'AA:BB:CC:DD:EE:FF';
const OCCURRED = '2026-11-20T18:29:59.5+09:00';

/**
 * Each setting of the specification's Events table that receives events, with an event for it and the content of its
 * webhook.
 */
const ROWS = [
  { setting: 'deviceEvent', type: 'bluetooth.connected', data: { macAddress: MAC, name: 'headset' } },
  { setting: 'deviceEvent', type: 'bluetooth.disconnected', data: { macAddress: MAC, name: null } },
  { setting: 'deviceEvent', type: 'custom.sos', data: { button: 'side', at: [{ lat: 35.6, lon: 139.7 }], note: '' } },
  { setting: 'deviceEvent', type: 'custom.battery_low.2', data: {} },
  { setting: 'callEvent', type: 'call.started', data: { callId: CALL, from: { name: 'a' } } },
  { setting: 'callEvent', type: 'call.ended', data: { callId: CALL } },
  { setting: 'callEvent', type: 'call.participant.joined', data: { callId: CALL, participant: 'b' } },
  {
    setting: 'callFileSendEvent',
    type: 'recording.saved',
    data: { callId: CALL, connections: [{ connectionId: 'c-1', movieFile: 'a.mp4' }] },
  },
  {
    setting: 'callFileSendEvent',
    type: 'recording.failed',
    data: { callId: CALL, error: { code: 'STORAGE_FULL', message: 'full' } },
  },
  { setting: 'fileUploadEvent', type: 'fileUpload.succeeded', data: { fileId: 'f-1', name: 'a.jpg', size: 3 } },
  {
    setting: 'fileUploadEvent',
    type: 'fileUpload.failed',
    data: { fileId: 'f-1', name: 'a.jpg', error: { code: 'INTERNAL', message: '' } },
  },
];
const SETTINGS = [...new Set(ROWS.map(({ setting }) => setting))];

let events = 0;
/** Publishes an event and waits for its PUBACK; returns the eventId. */
async function send(link: RawDevice, { type, data }: { type: string; data: object }, wanted?: string) {
  events += 1;
  const eventId = wanted ?? `e-${events}`;
  link.publish('events', { eventId, type, occurredAt: OCCURRED, data });
  await link.next('puback');
  return eventId;
}

async function setUp(t: Test, env: Record<string, string> = {}) {
  const world = await startWorld(t, { env });
  const tenant = await world.createTenant();
  const device = await world.activatedDevice(tenant);
  const sink = await createTestReceiver(t);
  /** Sets exactly these settings, each to a path of its own at the sink. */
  const configure = (...names: string[]) =>
    tenant.api.patch(tenant.path, {
      json: Object.fromEntries(SETTINGS.map((name) => [name, names.includes(name) ? `${sink.url}/${name}` : null])),
    });
  return { world, tenant, device, sink, configure };
}

/** Counts rows directly in the database. */
async function count(world: World, table: 'deliveries' | 'device_events', deviceId: string): Promise<number> {
  const text = `SELECT count(*) AS n FROM ${table} WHERE device_id = ?`;
  return (await (await world.raw()).all<{ n: number }>(text, deviceId))[0]?.n ?? 0;
}

t.test('events of devices', async (t) => {
  const { world, tenant, device, sink, configure } = await setUp(t);
  const other = await world.activatedDevice(tenant);
  const { link, deviceId } = device;
  const unsent = async (setting: string): Promise<number> => {
    const { values } = await world.service.metrics.eventsUnsent.get();
    return values.find(({ labels }) => labels.setting === setting)?.value ?? 0;
  };
  const nextFault = async () => {
    const packet = await link.next('publish');
    link.puback(packet);
    return checkMessage(packet.topic, packet.payload) as { reason: string; details: { loc: string[]; type: string }[] };
  };

  for (const row of ROWS) {
    const { setting, type, data } = row;

    t.test(`${setting} set: ${type} is notified there, signed, and nowhere else`, async (t) => {
      await configure(setting);
      const eventId = await send(link, row);
      const { path, body, headers } = await sink.next();
      t.equal(path, `/hook/${setting}`);
      t.same(checkWebhook(body), {
        type,
        timestamp: '2026-11-20T09:29:59.500000Z',
        data: { ...data, eventId, applicationId: tenant.applicationId, deviceId },
      });
      const seconds = Math.floor(world.clock.now() / 1_000_000);
      t.equal(headers['webhook-timestamp'], String(seconds));
      const expected = new Webhook(tenant.authenticationKey).sign(
        String(headers['webhook-id']),
        new Date(seconds * 1000),
        body.toString(),
      );
      t.equal(headers['webhook-signature'], expected);
      await world.idle();
    });

    t.test(`${setting} unset: ${type} is only in the stream, counted, and acknowledged`, async (t) => {
      await configure(...SETTINGS.filter((name) => name !== setting));
      const [before, requests] = [await unsent(setting), sink.requests.length];
      const eventId = await send(link, row);
      await world.idle();
      t.equal(await unsent(setting), before + 1);
      const { events } = (await tenant.api.get(`${tenant.path}/events?limit=1000`)).body;
      t.match(events.at(-1), { type, data: { ...data, eventId, deviceId } });
      const { deliveries } = (await tenant.api.get(`${tenant.path}/webhooks/deliveries?setting=${setting}`)).body;
      t.notOk(deliveries.some((one: { deliveryId: string }) => one.deliveryId === events.at(-1).eventId));
      t.equal(sink.requests.length, requests);
      t.same(link.pending('publish'), [], 'nor is the device told of a fault');
    });
  }

  await configure(...SETTINGS);

  t.test('an event is on the disk before its PUBACK', async (t) => {
    const before = await count(world, 'deliveries', deviceId);
    await send(link, ROWS[0]!);
    t.equal(await count(world, 'deliveries', deviceId), before + 1);
    await sink.next();
  });

  t.test('a message of a device cannot pass for another device, application or event', async (t) => {
    const forged = { callId: CALL, deviceId: 'x', applicationId: 'y', eventId: 'z' };
    const eventId = await send(link, { type: 'call.started', data: forged });
    const { data } = checkWebhook((await sink.next()).body);
    t.same(data, { callId: CALL, eventId, applicationId: tenant.applicationId, deviceId });
    const { values } = await world.service.metrics.deliveriesCreated.get();
    const types = values.map(({ labels }) => String(labels.type)).filter((type) => /^(call|custom)/.test(type));
    t.same(types.sort(), ['call', 'custom'], 'nor make up labels of metrics');
  });

  t.test('wrong events are reported on the errors topic with every faulty field, and dropped', async (t) => {
    const requests = sink.requests.length;
    const call = { type: 'call.started', occurredAt: OCCURRED, data: { callId: CALL } };
    const saved = { type: 'recording.saved', occurredAt: OCCURRED };
    const cases: [object, string[]][] = [
      [{ ...call, eventId: 'w', type: 'weather.changed' }, ['body.type string_pattern_mismatch']],
      [{ ...call, eventId: 'w', type: 'call' }, ['body.type string_pattern_mismatch']],
      [{ ...call, eventId: 'w', type: 'custom.' }, ['body.type string_pattern_mismatch']],
      [{ ...call, eventId: 'w', type: 'custom.a b' }, ['body.type string_pattern_mismatch']],
      [{ ...call, eventId: 'w', type: `custom.${'x'.repeat(58)}` }, ['body.type string_too_long']],
      [{ ...call, eventId: 'w', type: 'callx.started' }, ['body.type string_pattern_mismatch']],
      [{ ...call, eventId: 'w', type: 7 }, ['body.type string_type']],
      [{ ...call, eventId: '' }, ['body.eventId string_too_short']],
      [{ ...call, eventId: 'w', data: {} }, ['body.data.callId missing']],
      [{ ...call, eventId: 'w', data: [] }, ['body.data dict_type']],
      [
        { ...call, eventId: 'w', type: 'bluetooth.connected', data: { macAddress: 'AA-BB', more: 1 } },
        ['body.data.macAddress string_pattern_mismatch', 'body.data.name missing'],
      ],
      [
        { ...saved, eventId: 'w', data: { callId: CALL, connections: [] } },
        ['body.data.connections greater_than_equal'],
      ],
      [
        { ...saved, eventId: 'w', data: { callId: CALL, connections: [{ connectionId: 'c' }] } },
        ['body.data.connections.0.movieFile missing'],
      ],
      [
        { ...saved, eventId: 'w', type: 'fileUpload.succeeded', data: { fileId: 'f', name: 'n', size: -1 } },
        ['body.data.size greater_than_equal'],
      ],
    ];
    for (const [event, faults] of cases) {
      link.publish('events', event);
      const { reason, details } = await nextFault();
      t.equal(reason, 'invalid request.');
      t.same(details.map(({ loc, type }) => `${loc.join('.')} ${type}`).sort(), faults, JSON.stringify(event));
      await link.next('puback');
    }
    await world.idle();
    t.equal(sink.requests.length, requests);
  });

  t.test('events of a device that is not activated are reported on the errors topic', async (t) => {
    const fresh = await world.registerDevice();
    const idle = await world.connect(fresh);
    await send(idle, ROWS[0]!);
    const packet = await idle.next('publish');
    t.match(checkMessage(packet.topic, packet.payload), { reason: 'device is not activated.', details: [] });
    await tenant.api.post(`${tenant.path}/devices/${fresh.deviceId}`, { json: {} });
    await idle.command();
    await send(idle, ROWS[0]!);
    t.match(JSON.parse((await idle.next('publish')).payload.toString()), { reason: 'device is not activated.' });
    t.equal(await count(world, 'device_events', fresh.deviceId), 0);
  });

  t.test('a repeated event makes one webhook: at once, later, and over a restart', async (t) => {
    const { values } = await world.service.metrics.eventsRepeated.get();
    const before = values[0]?.value ?? 0;
    const event = { eventId: 'same', type: 'call.started', occurredAt: OCCURRED, data: { callId: CALL } };
    for (const _ of [1, 2, 3]) link.publish('events', event);
    for (const _ of [1, 2, 3]) await link.next('puback');
    t.match(checkWebhook((await sink.next()).body), { data: { eventId: 'same' } });
    t.equal((await world.service.metrics.eventsRepeated.get()).values[0]?.value, before + 2);
    await send(other.link, event, 'same');
    t.match(checkWebhook((await sink.next()).body), { data: { deviceId: other.deviceId } }, 'ids are of their device');
    await world.idle();
    const requests = sink.requests.length;
    await world.restart();
    const again = await world.connect(device);
    await send(again, event, 'same');
    await world.idle();
    t.equal(sink.requests.length, requests);

    t.test('an event is known for 30 days; then its row is removed when the device sends another one', async (t) => {
      world.clock.leap(30 * 24 * 3600 * 1000);
      await send(again, event, 'same');
      await world.idle();
      t.equal(sink.requests.length, requests, 'known to the last');
      t.ok((await count(world, 'device_events', deviceId)) > 5);
      world.clock.advance(1);
      await send(again, event, 'other');
      t.equal(await count(world, 'device_events', deviceId), 1);
      await send(again, event, 'same');
      await world.idle();
      t.equal(sink.requests.length, requests + 2);
    });

    t.test('a device that is removed leaves no events behind', async (t) => {
      await tenant.renew();
      await tenant.api.delete(device.path);
      const { transactionId } = await again.command();
      await again.ack({ transactionId, status: 'succeeded' });
      t.equal(await count(world, 'device_events', deviceId), 2);
      t.equal((await world.admin().delete(`/admin/v1/devices/${deviceId}`)).status, 204);
      t.equal(await count(world, 'device_events', deviceId), 0);
    });
  });
});

t.test('webmFile is in the recorded-data notification until the release 2026-11', async (t) => {
  const { tenant, device, sink, configure } = await setUp(t, { LAPEL_API_RELEASE: '2026-10' });
  await configure('callFileSendEvent');
  const saved = ROWS.find(({ type }) => type === 'recording.saved')!;
  const eventId = await send(device.link, saved);
  t.same(checkWebhook((await sink.next()).body)['data'], {
    callId: CALL,
    connections: [{ connectionId: 'c-1', movieFile: 'a.mp4', webmFile: 'a.mp4' }],
    eventId,
    applicationId: tenant.applicationId,
    deviceId: device.deviceId,
  });
});

t.test('events come in no fixed order, and their times put them into that of the device', async (t) => {
  const { world, device, sink, configure } = await setUp(t);
  await configure('deviceEvent');
  const { link } = device;
  const [first, second] = ['2026-11-20T09:00:00.000000Z', '2026-11-20T09:00:01.000000Z'];
  const received: string[] = [];
  sink.answer(({ body }) => {
    const { timestamp } = JSON.parse(body.toString());
    if (timestamp === first && !received.includes(first)) {
      received.push(first);
      return { status: 503 };
    }
    received.push(timestamp);
    return {};
  });
  for (const [at, occurredAt] of [first, second].entries()) {
    link.publish('events', { eventId: `ordered-${at}`, type: 'custom.sos', occurredAt, data: {} });
    await link.next('puback');
    await sink.next();
    await world.idle();
  }
  world.clock.advance(6_000); // the second attempt comes after 5 s
  await sink.next();
  await world.idle();
  t.same(received, [first, second, first], 'an event is overtaken while it waits for its next attempt');
  t.same(received.slice(1).toSorted(), [first, second]);
});
