import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';

/** What a runner is given: the folder of the job, and the surroundings of its machine. */
export interface Machine {
  /** An empty folder, in which the job has its workspace and its temporary files. */
  folder: string;
  /** PATH, HOME and the like. */
  env: Readonly<Record<string, string>>;
  /** Takes the log of the job, masked as the runner shows it. */
  print(text: string): void;
  /** Called with each output and the process of the step, which it may signal, as a cancelled job does. */
  onOutput?: (text: string, step: ChildProcess) => void;
}

/** How a job ended. */
export interface Job {
  exitCode: number;
  /** The whole log as the runner shows it. */
  log: string;
  outputs: Readonly<Record<string, string>>;
  summary: string;
}

/** Makes a folder below that of the job. */
export function folderIn(parent: string, name: string): string {
  const folder = join(parent, name);
  mkdirSync(folder, { recursive: true });
  return folder;
}

/** Runs a script of a step; its lines go to `show`. Resolves to the exit code. */
export async function runScript(
  command: readonly [string, ...string[]],
  {
    env,
    cwd,
    show,
    onOutput,
  }: { env: Record<string, string>; cwd: string; show(line: string): void; onOutput: Machine['onOutput'] },
): Promise<number> {
  const [program, ...args] = command;
  const child = spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  for (const stream of [child.stdout, child.stderr]) {
    let rest = '';
    stream.setEncoding('utf8').on('data', (text: string) => {
      const lines = (rest + text).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) show(line);
      onOutput?.(text, child);
    });
    stream.on('end', () => {
      if (rest !== '') show(rest);
    });
  }
  const [code] = (await once(child, 'close')) as [number | null];
  return code ?? 1;
}
