import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connectBenchDevices } from './bench-device.ts';
import { deviceIds } from './bench-ids.ts';
import { createReceiver } from './closed-loop.ts';
import { startProcess } from './processes.ts';
import { pathOf, type RunningTarget } from './running-target.ts';

/** The same loop without rules, in a process of its own. */
export async function startFloor({ devices }: { devices: number }): Promise<RunningTarget> {
  const folder = mkdtempSync(join(tmpdir(), 'lapel-floor-'));
  const receiver = await createReceiver();
  const floor = await startProcess(['bench/floor.ts', folder, receiver.url]);
  const ids = deviceIds(devices);
  const sockets = await connectBenchDevices(Number(floor.addresses['mqtt']), ids, () => 'none');
  return {
    process: floor,
    origin: `http://127.0.0.1:${floor.addresses['http']}`,
    headers: {},
    path: pathOf,
    deviceIds: ids,
    receiver,
    async close() {
      for (const socket of sockets) socket.destroy();
      await floor.stop();
      receiver.close();
      rmSync(folder, { recursive: true });
    },
  };
}
