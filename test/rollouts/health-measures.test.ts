import t from 'tap';
import { soaking } from './soaking.ts';

const MINUTE = 60_000;

t.test('devices that connect again and again', async (t) => {
  const { canaries, world, shown, pass } = await soaking(t, 2, 1, [
    { measure: 'reconnects', atMost: 3, minimumDevices: 2 },
  ]);
  await pass(6 * MINUTE); // after a release they may restart once
  for (let minute = 0; minute < 24; minute += 2) {
    for (const canary of canaries) canary.link = await world.connect(canary);
    await pass(2 * MINUTE);
  }
  t.match(await shown(), { reason: 'HEALTH_RULE', stages: [{ health: { control: { reconnects: 0 } } }] });
});

t.test('devices that report crashes', async (t) => {
  const { canaries, others, shown, pass } = await soaking(t, 2, 1, [
    { measure: 'events', types: ['custom.crash'], atMost: 1, minimumDevices: 2 },
  ]);
  for (const [type, links] of [
    ['custom.crash', canaries],
    ['custom.other', others],
  ] as const)
    for (const { link } of links)
      for (let number = 0; number < 3; number += 1) {
        link.publish('events', { eventId: `${type}-${number}`, type, occurredAt: '2026-11-20T09:30:00Z', data: {} });
        await link.next('puback');
      }
  await pass(20 * MINUTE);
  t.match(await shown(), {
    reason: 'HEALTH_RULE',
    history: [{ health: { rule: { measure: 'events' }, treated: { devices: 2 } } }],
    stages: [{ health: { control: { events: 0 } } }],
  });
});

t.test('the figures that are shown are those that a limit is compared with', async (t) => {
  const rule = { measure: 'events', types: ['custom.crash'], atMost: 3, minimumDevices: 4 };
  const { canaries, shown, pass } = await soaking(t, 4, 1, [rule]);
  await pass(15 * MINUTE);
  // One device counts at most four times the limit, so it alone does not exceed it.
  for (let number = 0; number < 40; number += 1) {
    const event = { eventId: `crash-${number}`, type: 'custom.crash', occurredAt: '2026-11-20T09:30:00Z', data: {} };
    canaries[0]!.link.publish('events', event);
    await canaries[0]!.link.next('puback');
  }
  await pass(5 * MINUTE);
  t.match(await shown(), {
    state: 'running',
    healthRules: [{ treated: { devices: 4, value: 3 }, stopsAt: 3 }],
    stages: [{ health: { treated: { events: 3 } }, verdict: { measures: { events: 'worse' } } }],
  });
});

t.test('events without a URL are known as well: they are stored in the stream', async (t) => {
  const { shown, pass } = await soaking(t, 2, 1, [
    { measure: 'events', types: ['recording.failed'], atMost: 1, minimumDevices: 2 },
  ]);
  await pass(20 * MINUTE);
  t.match(await shown(), { state: 'running', stages: [{ health: { treated: { devices: 2, events: 0 } } }] });
});

t.test('devices on which other commands fail', async (t) => {
  const { canaries, tenant, shown, pass } = await soaking(t, 2, 1, [
    { measure: 'failedCommands', atMost: 1, minimumDevices: 2 },
  ]);
  for (const { path, link } of canaries) {
    await tenant.api.put(`${path}/settings/wifi`, { json: [{ ssid: 'depot', security: 'OPEN' }] });
    const { transactionId, packet } = await link.command();
    link.puback(packet);
    await link.ack({ transactionId, status: 'failed', error: { code: 'NO_RADIO', message: 'x' } });
  }
  await pass(20 * MINUTE);
  t.match(await shown(), {
    reason: 'HEALTH_RULE',
    history: [{ health: { rule: { measure: 'failedCommands' }, control: { devices: 1, value: 0 } } }],
  });
});

t.test('batteries that empty faster, and storage that fills', async (t) => {
  const battery = { measure: 'batteryDrop', atMost: 20, minimumDevices: 2 };
  const storage = { measure: 'storageFree', atMost: 100, minimumDevices: 2 };
  const GIB = 1024 ** 3;
  await t.test('of devices that are not charged', async (t) => {
    const { canaries, shown, hour } = await soaking(t, 2, 1, [battery, storage]);
    const ids = canaries.map(({ deviceId }) => deviceId);
    await hour((deviceId, minute) => ({
      battery: { level: ids.includes(deviceId) ? 90 - minute : 90 - minute / 10, charging: false },
      storage: { total: 8 * GIB, free: GIB },
    }));
    t.match(await shown(), {
      reason: 'HEALTH_RULE',
      history: [{ health: { rule: battery, treated: { devices: 2, value: 60 } } }],
      stages: [{ health: { treated: { batteryDrop: 60, storageFree: 0 }, control: { batteryDrop: 6 } } }],
    });
  });
  await t.test('of devices that are charged a little', async (t) => {
    const { canaries, shown, hour } = await soaking(t, 2, 1, [battery, storage]);
    const ids = canaries.map(({ deviceId }) => deviceId);
    await hour((deviceId, minute) => ({
      battery: { level: 90 - minute, charging: true },
      storage: { total: 8 * GIB, free: ids.includes(deviceId) ? GIB - minute * 4 * 1024 ** 2 : GIB },
    }));
    t.match(await shown(), {
      reason: 'HEALTH_RULE',
      history: [{ health: { rule: storage, treated: { devices: 2 }, control: { devices: 1, value: 0 } } }],
      stages: [{ health: { treated: { batteryDrop: null } } }],
    });
  });
});
