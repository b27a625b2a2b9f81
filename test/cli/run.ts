import { setImmediate } from 'node:timers/promises';
import { runCli } from '../../src/cli/run-cli.ts';
import type { Terminal } from '../../src/cli/terminal.ts';

export interface Run {
  code: number;
  stdout: string;
  stderr: string;
}

/** Runs the command line in this process. Its pauses take no time. */
export async function run(
  args: readonly string[],
  {
    env = {},
    tty = false,
    pause = () => setImmediate(),
  }: { env?: Record<string, string>; tty?: boolean; pause?: Terminal['pause'] } = {},
): Promise<Run> {
  const written = { stdout: '', stderr: '' };
  const stream = (name: 'stdout' | 'stderr') => ({
    write: (text: string) => {
      written[name] += text;
    },
    isTTY: tty,
    columns: 120,
    rows: 30,
  });
  const code = await runCli(args, {
    env,
    stdout: stream('stdout'),
    stderr: stream('stderr'),
    now: () => performance.now(),
    pause,
  });
  return { code, ...written };
}
