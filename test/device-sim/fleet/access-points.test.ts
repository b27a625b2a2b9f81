import { createAccessPoint } from '@lapel/device-sim/fleet/access-points';
import { deviceIdFor } from '@lapel/device-sim/fleet/device-ids';
import { createFleet } from '@lapel/device-sim/fleet/fleet';
import type { GroupSettings } from '@lapel/device-sim/fleet/member';
import type { Device } from '@lapel/device-sim/model/device';
import { pace } from '@lapel/device-sim/mqtt/conditions';
import { createMedium } from '@lapel/device-sim/mqtt/medium';
import { readScenario } from '@lapel/device-sim/scenario/read-scenario';
import t from 'tap';
import { until } from '../../until.ts';
import { handTimers } from '../hand-timers.ts';
import { startBroker } from '../plain-broker.ts';

const members = (settings: GroupSettings, from = 0) =>
  Array.from({ length: 4 }, (_, at) => ({
    account: { deviceId: deviceIdFor(1, from + at), credential: 'secret' },
    place: from + at,
    settings,
  }));
/** Lets the time of timers pass, with all tasks that become due. */
async function pass(timers: ReturnType<typeof handTimers>, milliseconds: number): Promise<void> {
  const until = timers.now() + milliseconds;
  timers.after(milliseconds, () => undefined);
  while (timers.now() < until) await timers.next();
}
const NETWORK = { delay: { min: 0, max: 0 }, bytesPerSecond: null, losses: 36_000 };

t.test('the devices of an access point lose their connections together, and others on their own', async (t) => {
  await using broker = await startBroker();
  const shared = { group: 'depot', isShared: true, network: NETWORK };
  const others = { group: 'road', network: NETWORK };
  await using fleet = createFleet({
    members: [...members(shared), ...members(others, 4)],
    url: broker.url,
    badNetworks: true,
  });
  await fleet.connect();
  const lost: { deviceId: string; at: number }[] = [];
  let turn = 0;
  fleet.events.on('offline', ({ deviceId }) => {
    if (lost.length === 0) setImmediate(() => (turn += 1));
    lost.push({ deviceId, at: turn });
  });
  const ofDepot = new Set(members(shared).map(({ account }) => account.deviceId));
  const losses = (isDepot: boolean) => lost.filter(({ deviceId }) => ofDepot.has(deviceId) === isDepot);
  fleet.degrade(new Map(), 1);
  await until(() => losses(true).length >= 4 && losses(false).length >= 1);
  t.same(
    new Set(
      losses(true)
        .slice(0, 4)
        .map(({ deviceId }) => deviceId),
    ),
    ofDepot,
    'each of them, once',
  );
});

t.test('an access point is away for all its devices at the same times, in every process', async (t) => {
  const played = (count: number) => {
    const timers = handTimers();
    const point = createAccessPoint({
      group: 'depot',
      absence: { share: 0.5, window: { min: 1000, max: 5000 } },
      seed: 7,
      timers,
    });
    const told: string[][] = [];
    const join = (at: number) => {
      const mine: string[] = [];
      told.push(mine);
      const note = (what: string) => async () => void mine.push(`${what} ${timers.now()}`);
      return point.join({ drop: note('goes'), connect: note('comes') } as unknown as Device, () => t.fail(`${at}`));
    };
    const leave = Array.from({ length: count }, (_, at) => join(at));
    return { timers, told, leave, join };
  };
  const [one, other] = [played(3), played(2)];
  for (const { timers } of [one, other]) await pass(timers, 60_000);
  t.ok(one.told[0]!.length > 4, 'it goes and comes');
  for (const mine of [...one.told, ...other.told]) t.same(mine, one.told[0]);
  one.leave[0]?.();
  const before = one.told[0]!.length;
  await pass(one.timers, 30_000);
  t.equal(one.told[0]!.length, before, 'a device that has left stays as it is');
  t.ok(one.told[1]!.length > before);
  while (!one.told[1]!.at(-1)!.startsWith('goes')) await one.timers.next();
  one.join(3);
  t.match(one.told[3], [/^goes /], 'a device that comes while it is away goes as well');
  for (const leave of one.leave.slice(1)) leave();
});

t.test('the bytes of a shared medium come one after another', async (t) => {
  const timers = handTimers();
  const conditions = { delay: { min: 0, max: 0 }, bytesPerSecond: 1000, medium: createMedium() };
  const order: string[] = [];
  const { signal } = new AbortController();
  const send = async (name: string, bytes: number): Promise<void> => {
    await pace(bytes, () => conditions, timers, signal);
    order.push(`${name} ${timers.now()}`);
  };
  const began = timers.now();
  const all = [send('one', 1000), send('two', 500), send('three', 1000)];
  await pass(timers, 3000);
  await Promise.all(all);
  t.same(order, [`one ${began + 1000}`, `two ${began + 1500}`, `three ${began + 2500}`]);
});

t.test('a shared network needs something that is shared', async (t) => {
  const scenario = (network: string, phase = '') =>
    `name: a\ndevices: 2\ngroups: [{ name: depot, network: ${network} }]\nphases: [{ name: p, duration: 1s${phase} }]\n`;
  const path = /a\.yaml:3: groups\[0\]\.network\.shared: changes nothing without away, bandwidth, losses, or a network/;
  t.throws(() => readScenario(scenario('{ shared: true }'), 'a.yaml'), { message: path });
  t.throws(() => readScenario(scenario('{ shared: 1 }'), 'a.yaml'), { message: /shared: must be true or false/ });
  for (const [network, phase] of [
    ['{ shared: true, losses: 1/m }'],
    ['{ shared: true, profile: tunnel }'],
    ['{ shared: true }', ', network: [{ groups: [depot], bandwidth: 1 kB/s }]'],
  ] as const)
    t.equal(readScenario(scenario(network, phase), 'a.yaml').scenario.groups[0]?.isShared, true);
});
