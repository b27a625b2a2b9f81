import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { ScenarioTold, SmallScenario } from './scenario-worker.ts';

const MOST_BYTES = 64 * 1024 ** 2;

/** Plays included scenarios in worlds, one after another, in a process of their own. */
export async function playScenarios(scenarios: readonly SmallScenario[]): Promise<ScenarioTold[]> {
  const worker = join(import.meta.dirname, 'scenario-worker.ts');
  const args = ['--disable-warning=ExperimentalWarning', worker, JSON.stringify(scenarios)];
  const { stdout } = await promisify(execFile)(process.execPath, args, { maxBuffer: MOST_BYTES });
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as ScenarioTold);
}
