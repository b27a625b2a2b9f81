import t from 'tap';
import { checkMessage } from '../contract/checked-messages.ts';
import type { RawDevice } from '../raw-device.ts';
import { startWorld } from '../world.ts';
import { createNeighbour } from './neighbour.ts';

const MEBIBYTE = 1024 * 1024;

/** The next message on the errors topic; sends its PUBACK. */
async function told(link: RawDevice) {
  const packet = await link.next('publish');
  link.puback(packet);
  return checkMessage(packet.topic, packet.payload) as {
    reason: string;
    details: { msg: string }[];
    eventId?: string;
  };
}

t.test('endless bodies and messages with faults delay no other tenant', async (t) => {
  const world = await startWorld(t);
  const attacker = await world.createTenant('attacker');
  const { link, path } = await world.activatedDevice(attacker);
  const neighbour = await createNeighbour(t, world);
  const body = `[${'{},'.repeat(MEBIBYTE / 3 - 2)}{}]`;
  const status = `{"software":[${'0,'.repeat(120_000)}0]}`;
  let attacks = true;
  const ofCalls = async (): Promise<void> => {
    while (attacks) {
      const answer = await attacker.api.put(`${path}/settings/wifi`, { text: body });
      t.match(answer, { status: 400, body: { details: [{ loc: ['body'], type: 'less_than_equal' }] } });
      t.equal(answer.body.details.length, 1);
    }
  };
  const ofMessages = async (): Promise<void> => {
    while (attacks) {
      link.publish('status', status);
      t.equal((await told(link)).details.length, 1);
      await link.next('puback');
    }
  };
  const attack = Promise.all([ofCalls(), ofCalls(), ofMessages()]);
  await neighbour.works('bodies of 1 MiB with 350,000 bad items, statuses with 120,000', 10);
  attacks = false;
  await attack;
});

t.test('the events of one device are stored up to a bound, and refused beyond', async (t) => {
  const env = { LAPEL_DEVICE_EVENT_MIB: '2', LAPEL_APPLICATION_EVENT_MIB: '3' };
  const world = await startWorld(t, { env });
  const attacker = await world.createTenant('attacker');
  await attacker.api.patch(attacker.path, { json: { callEvent: attacker.receiver.url } });
  const device = await world.activatedDevice(attacker);
  const neighbour = await createNeighbour(t, world);
  const padding = 'x'.repeat(200_000);
  const event = (eventId: string, data: object = { padding }) => ({
    eventId,
    type: 'call.started',
    occurredAt: '2026-11-20T09:30:00Z',
    data: { callId: 'c', ...data },
  });
  const SENT = 40;
  /** Sends events without end: so many are stored, and the device is told that each other one was refused. */
  async function flood(link: RawDevice, prefix: string, stored: number, bound: string): Promise<void> {
    for (let index = 0; index < SENT; index += 1) link.publish('events', event(`${prefix}-${index}`));
    for (let index = 0; index < SENT; index += 1) await link.next('puback');
    for (let index = stored; index < SENT; index += 1) {
      const { eventId, reason } = await told(link);
      t.equal(eventId, `${prefix}-${index}`, 'the device is told which, and can send it again later');
      t.match(
        reason,
        new RegExp(`^the ${bound} has reached its daily limit of stored event bytes; try again in \\d+ s\\.$`),
      );
    }
    const delivered = new Set<unknown>();
    for (let index = 0; index < stored; index += 1) delivered.add((await attacker.event()).data['eventId' as never]);
    t.same(delivered, new Set(Array.from({ length: stored }, (_, index) => `${prefix}-${index}`)));
  }
  const fits = (mebibytes: number): number => Math.floor((mebibytes * MEBIBYTE) / JSON.stringify(event('a-10')).length);
  await Promise.all([flood(device.link, 'a', fits(2), 'device'), neighbour.works('200 kB events without end', 20)]);

  await t.test('a repeated event does not count, and a small event still fits', async (t) => {
    for (let index = 0; index < 20; index += 1) device.link.publish('events', event('a-0'));
    for (let index = 0; index < 20; index += 1) await device.link.next('puback');
    device.link.publish('events', event('small', {}));
    t.match(await attacker.event(), { data: { eventId: 'small' } });
    await device.link.next('puback');
    t.same(device.link.pending('publish'), [], 'nothing was told');
  });

  await t.test('other devices of the application share its bound', async () => {
    const other = await world.activatedDevice(attacker);
    await flood(other.link, 'b', fits(3) - fits(2), 'application');
  });

  await neighbour.works('an application above its bound', 5);
  world.clock.advance(12 * 3600 * 1000);
  device.link.publish('events', event('later'));
  await device.link.next('puback');
  const text = (await world.anonymousAdmin().get('/metrics')).body as string;
  t.match(text, /lapel_device_events_refused_total\{bound="device"\} [1-9]/);
  t.match(text, /lapel_device_events_refused_total\{bound="application"\} [1-9]/);
  const event7 = async () => {
    for (;;) {
      const { type, data } = await attacker.event();
      if (type === 'call.started') return data;
    }
  };
  t.match(await event7(), { eventId: 'later' }, 'a day gives the bound again');
});
