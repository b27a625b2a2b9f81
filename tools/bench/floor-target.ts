import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgres } from '../harness/postgres-server.ts';
import { connectBenchDevices } from './bench-device.ts';
import { deviceIds } from './bench-ids.ts';
import { createReceiver } from './closed-loop.ts';
import { type Process, startProcess } from './processes.ts';
import { pathOf, type RunningTarget } from './running-target.ts';

interface Options {
  devices: number;
  database?: 'sqlite' | 'postgres';
}

/** Starts the floor (the loop without rules, see floor.ts) in a process of its own. */
export async function startFloor({
  devices,
  database = 'sqlite',
}: Options): Promise<RunningTarget & { process: Process }> {
  const folder = mkdtempSync(join(tmpdir(), 'lapel-floor-'));
  const receiver = await createReceiver();
  const postgres = database === 'postgres' ? await startPostgres({ onDisk: true }) : undefined;
  const place = postgres ? await postgres.createDatabase() : folder;
  const floor = await startProcess(['tools/bench/floor.ts', place, receiver.url]);
  const ids = deviceIds(devices);
  const sockets = await connectBenchDevices(Number(floor.addresses['mqtt']), ids, () => 'none');
  return {
    process: floor,
    processes: [floor],
    databaseSeconds: () => postgres?.cpuSeconds() ?? 0,
    commits: () => Promise.resolve(Number.NaN),
    origins: [`http://127.0.0.1:${floor.addresses['http']}`],
    headers: {},
    path: pathOf,
    deviceIds: ids,
    receiver,
    async close() {
      for (const socket of sockets) socket.destroy();
      await floor.stop();
      await postgres?.[Symbol.asyncDispose]();
      receiver.close();
      rmSync(folder, { recursive: true });
    },
  };
}
