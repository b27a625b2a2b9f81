import t from 'tap';
import { onBoth } from '../database/kinds.ts';
import { send } from '../stream/stream-world.ts';
import { startWorld } from '../world.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

onBoth(t, async (t, database) => {
  const world = await startWorld(t, {
    ...(database && { database }),
    keepsHistory: true,
    env: { LAPEL_DELIVERY_RETENTION_DAYS: '1' },
  });
  const tenant = await world.createTenant();
  const device = await world.activatedDevice(tenant);
  await send(device.link);
  await world.idle();
  const events = `${tenant.path}/events`;
  const billing = `${events}/consumers/billing`;

  async function pass(minutes: number): Promise<void> {
    for (let minute = 0; minute < minutes; minute += 1) {
      world.clock.advance(MINUTE);
      await world.idle();
    }
    await tenant.renew();
  }
  /** Lets hours pass, and so many minutes that a condition has held. */
  async function later(hours: number): Promise<void> {
    await device.link.drop();
    for (let hour = 0; hour < hours; hour += 1) {
      world.clock.advance(HOUR);
      await world.idle();
    }
    await pass(7);
    device.link = await world.connect(device);
    await world.idle();
  }
  /** Looks at all places where operators and the application see it. */
  async function seen() {
    const admin = world.admin();
    const [{ body: list }, { body: ready }] = [await admin.get('/admin/v1/fleet/alarms'), await admin.get('/readyz')];
    const metrics = String((await admin.get('/metrics')).body).matchAll(/^lapel_event_consumers\{state="(\w+)"\} 1$/gm);
    const { consumers } = (await tenant.api.get(`${events}/consumers`)).body;
    const ofKind = (list.alarms as { kind: string; level: string; text: string }[]).filter(
      ({ kind }) => kind === 'consumersBehind',
    );
    return {
      alarms: ofKind.map(({ level }) => level),
      text: ofKind[0]?.text ?? '',
      notes: (ready.notes ?? []).filter(({ part }: { part: string }) => part === 'consumersBehind').length,
      counted: [...metrics].map(([, state]) => state),
      states: consumers.map(({ state }: { state: string }) => state),
      attention: consumers[0]?.attention ?? null,
    };
  }
  const newest = async (): Promise<number> => (await tenant.api.get(`${events}?from=latest`)).body.next;
  const QUIET = { alarms: [], notes: 0, counted: [] };

  await t.test(
    'a consumer is told that leaves an event unhandled for an hour, to operators and its owner',
    async (t) => {
      await tenant.api.put(billing, { json: { after: 0 } });
      await pass(7);
      t.match(await seen(), { ...QUIET, states: ['current'], attention: null }, 'not yet');
      await later(1);
      const { text, attention, ...told } = await seen();
      t.same(told, { alarms: ['warning'], notes: 1, counted: ['behind'], states: ['behind'] });
      t.match(text, /^An event has waited \d+ minutes for the consumer billing of dev-app: /);
      t.match(attention, /^An event has waited \d+ minutes for the consumer billing: .*lapel consumer delete billing/);
    },
  );

  await t.test('it ends when the consumer has handled them, and when it is deleted', async (t) => {
    await tenant.api.put(billing, { json: { after: await newest() } });
    await pass(2);
    t.match(await seen(), { ...QUIET, states: ['current'] });
    await send(device.link);
    await later(1);
    t.match(await seen(), { alarms: ['warning'], states: ['behind'] });
    await tenant.api.delete(billing);
    await pass(2);
    t.match(await seen(), { ...QUIET, states: [] });
  });

  await t.test('it is critical before events are lost', async (t) => {
    await tenant.api.put(billing, { json: { after: await newest() } });
    await send(device.link);
    await later(18);
    const { text, ...told } = await seen();
    t.match(told, { alarms: ['critical'], notes: 1, counted: ['ending'], states: ['ending'] });
    t.match(text, /is removed in \d+ (minutes|hours): /);
  });

  await t.test('one that nobody uses any more wakes nobody for ever', async (t) => {
    for (let days = 0; days < 3; days += 1) await later(24);
    const { text, ...told } = await seen();
    t.match(told, { alarms: ['info'], notes: 0, counted: ['abandoned'], states: ['abandoned'] });
    t.match(text, /^Nobody has moved the consumer billing of dev-app for \d+ days?/);
  });
});
