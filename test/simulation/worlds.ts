import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Plan } from './plan.ts';
import { type Told, untold } from './told.ts';

interface Options {
  /** The name of the fault that is planted into the service; undefined: none. */
  readonly breakage?: string | undefined;
  /** Whether all events and the log of the service are written on standard error. */
  readonly isLogged?: boolean;
  /** Called after each world; true ends the process, and no further world is played. */
  onTold(told: Told): boolean;
}

const folder = mkdtempSync(join(tmpdir(), 'lapel-simulate-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
let files = 0;

/**
 * The most worlds of one process. A service that was killed keeps its memory and its files, as nobody may close them, so two
 * thousand worlds would take seven gigabytes, and as much of the memory that files are in.
 */
const PER_PROCESS = 250;

/** Plays worlds one after another, in processes of their own. */
export async function playWorlds(plans: readonly Plan[], options: Options): Promise<void> {
  for (let start = 0; start < plans.length; start += PER_PROCESS)
    if (await playSome(plans.slice(start, start + PER_PROCESS), options)) return;
}

/** Plays worlds in one process; after one that has ended it, in another. Resolves to whether no further world is played. */
async function playSome(plans: readonly Plan[], options: Options): Promise<boolean> {
  const { breakage = '', isLogged = false, onTold } = options;
  files += 1;
  const file = join(folder, `plans-${files}.json`);
  writeFileSync(file, JSON.stringify(plans));
  const worker = join(import.meta.dirname, 'worker.ts');
  const args = ['--disable-warning=ExperimentalWarning', worker, file, isLogged ? 'log' : ''];
  const env = { ...process.env, LAPEL_SIMULATED_BREAKAGE: breakage };
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'], env });
  const end = (): void => void child.kill('SIGKILL');
  process.once('exit', end);
  let told = 0;
  let isEnough = false;
  for await (const line of createInterface({ input: child.stdout })) {
    if (isEnough) continue;
    told += 1;
    isEnough = onTold(JSON.parse(line) as Told);
    if (isEnough) end();
  }
  process.off('exit', end);
  const [lost, ...rest] = plans.slice(told);
  if (isEnough || !lost) return isEnough;
  if (onTold(untold(lost.seed, 'the process of this world ended'))) return true;
  return rest.length > 0 && playSome(rest, options);
}
