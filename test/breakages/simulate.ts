import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { RunRecord } from '@lapel/device-sim/report/record';
import { ADMIN_TOKEN, type Addresses } from '../flow/service-process.ts';

const MAIN = join(import.meta.dirname, '../../device-sim/main.ts');
/** A run that takes longer is ended: its service answers nothing, so the simulator may wait very long. */
const LONGEST_MS = 120_000;

/** A run of the simulator that has ended. */
export interface Simulated {
  /** The exit code of the simulator; null if a signal has ended it. */
  readonly code: number | null;
  /** The record of the run; null if the simulator wrote none. */
  readonly record: RunRecord | null;
  /** The output of the simulator. */
  readonly output: string;
}

/** Plays a scenario with the simulator of this checkout, as a process of its own. */
export async function simulate(
  { http, admin, mqtt }: Addresses,
  { scenario, options = [], developer }: { scenario: string; options?: readonly string[]; developer: string },
  folder: string,
): Promise<Simulated> {
  const addresses = ['--api', http, '--admin', admin, '--mqtt', mqtt];
  const own = ['--developer', developer, '--run', developer, '--report', folder, '--wait', '20'];
  const child = spawn(process.execPath, [MAIN, 'run', scenario, ...options, ...addresses, ...own], {
    env: { PATH: process.env['PATH'] ?? '', LAPEL_ADMIN_TOKEN: ADMIN_TOKEN },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const tooLong = setTimeout(() => child.kill('SIGKILL'), LONGEST_MS);
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  clearTimeout(tooLong);
  const file = join(folder, 'report.json');
  const record = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as RunRecord) : null;
  return { code: code as number | null, record, output: stdout + stderr };
}
