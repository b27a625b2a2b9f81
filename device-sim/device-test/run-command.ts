import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** Characters of the command's output that an error quotes. */
const QUOTED = 500;

/** Runs a command of the user in a shell. Resolves to the reason why it failed; undefined: it did not. */
export async function runCommand(command: string, stopped: AbortSignal): Promise<string | undefined> {
  const child = spawn(command, { shell: true, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output = (output + text).slice(-QUOTED);
    });
  const end = (): void => void child.kill('SIGTERM');
  stopped.addEventListener('abort', end, { once: true });
  const [code, signal] = (await once(child, 'close')) as [number | null, string | null];
  stopped.removeEventListener('abort', end);
  if (code === 0) return undefined;
  const how = code === null ? `was ended by ${signal}` : `ended with exit code ${code}`;
  return `the command of --restart ${how}: ${output.trim() || 'no output'}`;
}
