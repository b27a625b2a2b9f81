import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';

const END_MS = 15_000;

/** The processes that have this HOME, with their command lines. A process that has ended has none. */
function processesOf(home: string): { pid: number; command: string }[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      const variables = readFileSync(`/proc/${name}/environ`, 'utf8').split('\0');
      if (!variables.includes(`HOME=${home}`)) return [];
      return [{ pid: Number(name), command: readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ') }];
    } catch {
      return []; // it has ended, or belongs to another user
    }
  });
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // it has ended
  }
}

/**
 * Ends what the steps have left running, as a CI does at the end of a job: each step is a process group. Returns the
 * command lines of processes that remain nevertheless, after it has killed them.
 */
export async function endProcesses(groups: readonly number[], home: string): Promise<string[]> {
  for (const group of groups) signal(-group, 'SIGTERM');
  const until = Date.now() + END_MS;
  let left = processesOf(home);
  while (left.length > 0 && Date.now() < until) {
    await setTimeout(100);
    left = processesOf(home);
  }
  for (const { pid } of left) signal(pid, 'SIGKILL');
  return left.map(({ command }) => command);
}
