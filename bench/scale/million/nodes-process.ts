// Some nodes of the fleet in a process of their own, without sockets of devices. Its argument is the fleet, as JSON; it gets
// orders as messages of its parent, and answers each when it is carried out.
import { setImmediate as turn } from 'node:timers/promises';
import { deviceIdOf } from '../../bench-ids.ts';
import { createNodeDriver, type NodeDriver, nodeConfig, sharedParts } from './node-driver.ts';
import { type Counted, runClosed, runOpenLoop } from './open-loop.ts';
import { type Answer, applicationOf, type LoadPart, type Order, type OwnNodes } from './orders.ts';

/**
 * The logins that each process works on at a time. More of them would keep the event loop, which nodes share here and nowhere
 * else, busy for so long that leases are lost.
 */
const LOGINS_AT_ONCE = 64;
/** The devices of each node that get commands, where devices were connected without logins. */
const LINKED = 500;

const fleet = JSON.parse(process.argv[2] ?? '') as OwnNodes;
const share = fleet.own.length / fleet.nodes;
const shared = sharedParts();
const drivers: NodeDriver[] = [];

/** The numbers of the devices of a node. */
function* numbersOf(node: number): Generator<number> {
  for (let number = node; number < fleet.devices; number += fleet.nodes) yield number;
}

const someOf = (count: number): number => Math.floor(Math.random() * count);

/** A device of this process at random, with its node. */
function anyDevice(): { driver: NodeDriver; deviceId: string } {
  const at = someOf(drivers.length);
  const node = fleet.own[at] as number;
  const count = Math.ceil((fleet.devices - node) / fleet.nodes);
  return { driver: drivers[at] as NodeDriver, deviceId: deviceIdOf(node + fleet.nodes * someOf(count)) };
}

/** The changed fields of a device that is carried about: its battery and the strength of its network. */
const changes = () => ({
  battery: { level: someOf(101), charging: false },
  network: { type: 'wifi', ssid: 'office', rssi: -40 - someOf(50) },
});

const calls: Record<LoadPart, () => Promise<unknown> | undefined> = {
  status() {
    const { driver, deviceId } = anyDevice();
    return driver.report(deviceId, changes());
  },
  keepAlive() {
    const { driver, deviceId } = anyDevice();
    driver.keepAlive(deviceId);
    return undefined;
  },
  commands() {
    // A command reaches any node, and its device is connected to any node.
    const number = someOf(Math.min(fleet.devices, LINKED * fleet.nodes));
    const driver = drivers[someOf(drivers.length)] as NodeDriver;
    return driver.command(applicationOf(number % fleet.applications), deviceIdOf(number));
  },
};

/** The numbers of the devices of all nodes of this process, in turn, each with its node. */
function* inTurn(): Generator<[number, NodeDriver]> {
  for (let first = 0; first < fleet.devices; first += fleet.nodes)
    for (const [index, node] of fleet.own.entries())
      if (first + node < fleet.devices) yield [first + node, drivers[index] as NodeDriver];
}

const storm = async (seconds: number): Promise<Record<string, Counted>> => ({
  logins: await runClosed(inTurn(), ([number, driver]) => driver.login(deviceIdOf(number), fleet.credential), {
    atOnce: LOGINS_AT_ONCE,
    seconds,
  }),
});

async function adopt(): Promise<void> {
  for (const [index, driver] of drivers.entries()) {
    const node = fleet.own[index] as number;
    const left = [...numbersOf(node)].map(deviceIdOf).filter((deviceId) => !driver.isConnected(deviceId));
    await driver.adopt(left);
  }
  await Promise.all(
    drivers.map(async (driver, index) => {
      const node = fleet.own[index] as number;
      for (let place = 0; place < LINKED && node + place * fleet.nodes < fleet.devices; place += 1)
        await driver.link(deviceIdOf(node + place * fleet.nodes));
    }),
  );
}

function takeSettled(): Counted {
  const all = drivers.map((driver) => driver.takeSettled());
  const done = all.reduce((total, { settled }) => total + settled, 0);
  return { due: done, done, failed: 0, times: all.flatMap(({ lateness }) => lateness) };
}

async function load(order: Order & { kind: 'load' }): Promise<Record<string, Counted>> {
  takeSettled();
  const parts = Object.entries(order.perSecond) as [LoadPart, number][];
  const made = await Promise.all(
    parts.map(async ([part, perSecond]) => {
      const counted = await runOpenLoop(calls[part], { perSecond: perSecond * share, seconds: order.seconds });
      return [part, counted] as const;
    }),
  );
  if (parts.length === 0) await new Promise((resolve) => setTimeout(resolve, order.seconds * 1000));
  const settled = takeSettled();
  return { ...Object.fromEntries(made), ...(order.perSecond.commands && { 'ends of commands': settled }) };
}

async function carryOut(order: Order): Promise<Record<string, Counted>> {
  switch (order.kind) {
    case 'join':
      for (const node of fleet.own) drivers.push(await createNodeDriver(nodeConfig(fleet, `node-${node}`), shared));
      return {};
    case 'start':
      for (const driver of drivers) await driver.start();
      return {};
    case 'storm':
      return storm(order.seconds);
    case 'adopt':
      await adopt();
      return {};
    case 'load':
      return load(order);
    case 'stop':
      for (const driver of drivers.splice(0)) await driver[Symbol.asyncDispose]();
      return {};
  }
}

process.on('message', (order: Order) => {
  const began = process.cpuUsage();
  const seconds = (): number => {
    const { user, system } = process.cpuUsage(began);
    return (user + system) / 1e6;
  };
  carryOut(order).then(
    async (parts) => {
      const connected = drivers.reduce((total, driver) => total + driver.size(), 0);
      process.send?.({ cpuSeconds: seconds(), connected, parts } satisfies Answer);
      await turn();
      if (order.kind === 'stop') process.disconnect();
    },
    (err: unknown) => {
      const error = err instanceof Error ? (err.stack ?? err.message) : String(err);
      process.send?.({ cpuSeconds: seconds(), connected: 0, parts: {}, error } satisfies Answer);
    },
  );
});
// A process whose parent has gone ends too.
process.on('disconnect', () => process.exit());
