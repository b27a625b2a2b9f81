import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startLapel } from '../lapel-target.ts';
import type { Options } from '../measure.ts';
import { startProcess } from '../processes.ts';
import type { Table } from '../report.ts';

const RATE = 1000;

interface Passage {
  seconds: number;
  cpuSeconds: number;
  kibEach: number;
}

const rounded = (number: number): number => Math.round(number * 10) / 10;

/**
 * Connects the simulator's fleet to an idle service: measures what a device costs the service and the simulator, and
 * the rate of connecting.
 */
export async function runSimulator({ fleet, profile }: Options): Promise<Table> {
  await using stack = new AsyncDisposableStack();
  const env = { LAPEL_MQTT_ADDRESS_LOGINS: '0' }; // no limit per address, because all devices have the same one here
  const lapel = stack.adopt(await startLapel({ devices: 1, offline: fleet, env, profile }), (target) => target.close());
  const folder = mkdtempSync(join(tmpdir(), 'lapel-bench-'));
  stack.defer(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'accounts.json');
  const accounts = lapel.offlineIds.map((deviceId) => ({ deviceId, credential: lapel.credentialOf(deviceId) }));
  writeFileSync(file, JSON.stringify(accounts), { mode: 0o600 });
  const before = { rss: lapel.process.rssBytes(), cpu: lapel.process.cpuSeconds() };
  const url = `mqtt://127.0.0.1:${lapel.mqttPort}`;
  const simulator = await startProcess(['tools/bench/scale/simulator-process.ts', file, url, String(RATE)]);
  stack.defer(() => simulator.stop());
  const { first, storm } = simulator.addresses as unknown as { first: Passage; storm: Passage };
  const service = {
    kibEach: (lapel.process.rssBytes() - before.rss) / fleet / 1024,
    cpuSeconds: lapel.process.cpuSeconds() - before.cpu,
  };
  const row = (what: string, { seconds, cpuSeconds, kibEach }: Passage) => ({
    what,
    seconds: rounded(seconds),
    'a second': Math.round(fleet / seconds),
    'processor of the simulator, s': rounded(cpuSeconds),
    'memory of the simulator, KiB a device': rounded(kibEach),
  });
  return {
    name: 'Simulator',
    about: `${fleet} devices of the simulator in one process, on an otherwise idle service. Afterwards the service had used ${rounded(service.kibEach)} KiB a device, and ${rounded(service.cpuSeconds)} s of processor time for both rows.`,
    rows: [row(`new sessions at ${RATE}/s`, first), row('all again at once', storm)],
  };
}
