import t from 'tap';
import { startWorld } from '../world.ts';

t.test('a device that sends more than its rate is cut off, and what it sends again later is taken', async (t) => {
  const world = await startWorld(t, { env: { LAPEL_DEVICE_RATE_LIMIT: '5' } });
  const tenant = await world.createTenant();
  const device = await world.activatedDevice(tenant);
  const neighbour = await world.activatedDevice(tenant);
  const { link } = device;
  const event = (number: number) => ({
    eventId: `event ${number}`,
    type: 'bluetooth.connected',
    occurredAt: '2026-11-20T09:30:00Z',
    data: { macAddress: 'AA:BB:CC:DD:EE:FF', name: null },
  });

  for (let number = 0; number < 15; number += 1) link.publish('events', event(number));
  await link.closed;
  t.ok(link.pending('puback').length <= 10, 'twice the rate at once is acknowledged, and no more');
  for (let number = 0; number < 10; number += 1)
    t.equal((await tenant.event()).data['eventId' as never], `event ${number}`);

  neighbour.link.publish('events', event(100));
  await neighbour.link.next('puback');
  t.equal((await tenant.event()).data.deviceId, neighbour.deviceId, 'another device is not affected');

  world.clock.advance(1000);
  const again = await world.connect(device);
  for (let number = 10; number < 15; number += 1) {
    again.publish('events', event(number));
    await again.next('puback');
    t.equal((await tenant.event()).data['eventId' as never], `event ${number}`);
  }

  const acks = 30;
  for (let number = 0; number < acks; number += 1) again.publish('acks', { transactionId: 1, status: 'succeeded' });
  for (let number = 0; number < acks; number += 1) await again.next('puback');
  t.pass('acks are not counted: commands bound them');
  const text = (await world.anonymousAdmin().get('/metrics')).body as string;
  t.match(text, /lapel_mqtt_refused_total\{reason="rate"\} [1-9]/);
});
