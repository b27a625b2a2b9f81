import { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { runCli } from '@lapel/cli/run-cli';
import type { Terminal } from '@lapel/cli/show/terminal';

export interface Run {
  code: number;
  stdout: string;
  stderr: string;
}

interface Surroundings {
  env?: Record<string, string>;
  tty?: boolean;
  columns?: number;
  /** The text on standard input. */
  input?: string;
  /** The answers of a person to the questions, one after the other; without them there is no person. */
  answers?: string[] | ((question: string) => Promise<string>);
  /** Aborted by Ctrl-C. */
  interrupted?: AbortSignal;
  pause?: Terminal['pause'];
  now?: () => number;
  /** Called with each output as it is written. */
  onWrite?: (text: string) => void;
}

/** Runs the command line in this process. Its pauses take no time, and it does not see the profiles of this machine. */
export async function run(
  args: readonly string[],
  {
    env = {},
    tty = false,
    columns = 120,
    input = '',
    answers,
    interrupted = new AbortController().signal,
    pause = () => setImmediate(),
    now = () => performance.now(),
    onWrite,
  }: Surroundings = {},
): Promise<Run> {
  const written = { stdout: '', stderr: '' };
  const stream = (name: 'stdout' | 'stderr') => ({
    write: (text: string) => {
      written[name] += text;
      onWrite?.(text);
    },
    isTTY: tty,
    columns,
    rows: 30,
  });
  const code = await runCli(args, {
    env: { XDG_CONFIG_HOME: '/nonexistent', ...env },
    home: '/nonexistent',
    stdin: Readable.from(input === '' ? [] : [Buffer.from(input)]),
    stdout: stream('stdout'),
    stderr: stream('stderr'),
    ask: answers
      ? async (question) => {
          written.stderr += question;
          return Array.isArray(answers) ? (answers.shift() ?? '') : answers(question);
        }
      : null,
    interrupted,
    now,
    pause,
  });
  return { code, ...written };
}
