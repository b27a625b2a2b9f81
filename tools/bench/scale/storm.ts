import type { Socket } from 'node:net';
import { connectBenchDevice } from '../bench-device.ts';
import { deviceIds } from '../bench-ids.ts';
import { runClosedLoop, warmUp } from '../closed-loop.ts';
import { startFloor } from '../floor-target.ts';
import { startLapel } from '../lapel-target.ts';
import type { Options } from '../measure.ts';
import type { Process } from '../processes.ts';
import type { Table } from '../report.ts';
import type { RunningTarget } from '../running-target.ts';

/** The number of devices that connect at the same time: as many as the kernel keeps in the queue of a listener. */
const AT_ONCE = 500;
/** The number of callers of the closed loop that runs during a storm. */
const CALLERS = 8;

/** Connects all devices, each with its subscription; returns their sockets. */
export async function connectAll(port: number, ids: string[], credentialOf: (id: string) => string): Promise<Socket[]> {
  const sockets: Socket[] = [];
  const left = ids.values();
  const one = async (): Promise<void> => {
    for (const deviceId of left) {
      sockets.push(await connectBenchDevice({ port, deviceId, credential: credentialOf(deviceId) }));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, one));
  return sockets;
}

const rested = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds));

async function leave(sockets: Socket[]): Promise<void> {
  const gone = sockets.map((socket) => new Promise<void>((resolve) => socket.once('close', () => resolve())));
  for (const socket of sockets) socket.resetAndDestroy();
  await Promise.all(gone);
  await rested(1000); // the service needs a moment to notice the ends and to free their memory
}

interface Storms {
  firstMs: number;
  againMs: number;
  /** The rate of the closed loop while the devices connect again, divided by its rate just before. */
  loop: number;
  firstKiB: number;
  againKiB: number;
}

async function measureStorms(
  target: RunningTarget & { process: Process },
  { port, ids, credentialOf }: { port: number; ids: string[]; credentialOf(id: string): string },
): Promise<Storms> {
  const rss = target.process.rssBytes();
  const kibEach = (): number => Math.round((target.process.rssBytes() - rss) / ids.length / 102.4) / 10;
  const storm = async (): Promise<{ ms: number; kib: number; sockets: Socket[] }> => {
    const began = performance.now();
    const sockets = await connectAll(port, ids, credentialOf);
    const ms = performance.now() - began;
    await rested(1000);
    return { ms, kib: kibEach(), sockets };
  };
  const first = await storm();
  await leave(first.sockets);
  const again = await storm();
  await leave(again.sockets);
  const quiet = await runClosedLoop(target, CALLERS, 2);
  let over = false;
  const third = connectAll(port, ids, credentialOf).finally(() => {
    over = true;
  });
  const rates: number[] = [];
  while (!over) rates.push((await runClosedLoop(target, CALLERS, 0.5)).rate);
  await leave(await third);
  const loop = rates.reduce((sum, rate) => sum + rate, 0) / rates.length / quiet.rate;
  return { firstMs: first.ms, againMs: again.ms, loop, firstKiB: first.kib, againKiB: again.kib };
}

/**
 * Measures a whole fleet that connects at once: with new sessions, again with existing sessions, and while the closed
 * loop runs.
 */
export async function runStorm({ devices, fleet, profile }: Options): Promise<Table> {
  await using stack = new AsyncDisposableStack();
  const floor = stack.adopt(await startFloor({ devices }), (target) => target.close());
  const env = { LAPEL_MQTT_ADDRESS_LOGINS: '0' }; // no limit per address, because all devices have the same one here
  const lapel = stack.adopt(await startLapel({ devices, offline: fleet, env, profile }), (target) => target.close());
  const ids = deviceIds(fleet, 500_000);
  await warmUp(floor);
  await warmUp(lapel);
  const plain = await measureStorms(floor, {
    port: Number(floor.process.addresses['mqtt']),
    ids,
    credentialOf: () => 'none',
  });
  const { mqttPort: port, credentialOf } = lapel;
  const ours = await measureStorms(lapel, { port, ids, credentialOf });
  const row = (what: string, figure: (storms: Storms) => number, unit: string) => ({
    what: `${what}, ${unit}`,
    'plain Aedes': figure(plain),
    lapel: figure(ours),
    ratio: Number((figure(unit === 'ms' ? plain : ours) / figure(unit === 'ms' ? ours : plain)).toFixed(2)),
  });
  return {
    name: 'Storm',
    about: `${fleet} devices connect and subscribe at once: to Lapel, and to Aedes alone, which checks no credentials and stores no sessions.`,
    rows: [
      row('first storm', ({ firstMs }) => Math.round(firstMs), 'ms'),
      row('second storm', ({ againMs }) => Math.round(againMs), 'ms'),
      row('the loop meanwhile', ({ loop }) => Number(loop.toFixed(2)), 'of its rate before'),
      row('memory after the first', ({ firstKiB }) => firstKiB, 'KiB a device'),
      row('memory after the second', ({ againKiB }) => againKiB, 'KiB a device'),
    ],
  };
}
