import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { ServiceControl } from './service-fault.ts';

/** Characters of the command's output that an error quotes. */
const QUOTED = 500;

/**
 * Makes a service fail by a command of the user, which runs in a shell, once for each fault. The command learns the fault
 * from its environment: SERVICE_FAULT, SERVICE_FAULT_SECONDS, SERVICE_FAULT_NODE (a number or `all`). It must end when the
 * fault is over. `play` rejects with an Error if the command fails.
 */
export function faultCommand(command: string, stopped: AbortSignal): ServiceControl {
  return {
    crashes: null,
    crashed: new Promise(() => {}),
    async play({ fault, node, lasts }) {
      const env = {
        ...process.env,
        SERVICE_FAULT: fault,
        SERVICE_FAULT_SECONDS: String(lasts / 1000),
        SERVICE_FAULT_NODE: node === null ? 'all' : String(node),
      };
      const child = spawn(command, { shell: true, env, stdio: ['ignore', 'pipe', 'pipe'] });
      let output = '';
      for (const stream of [child.stdout, child.stderr])
        stream.setEncoding('utf8').on('data', (text: string) => {
          output = (output + text).slice(-QUOTED);
        });
      const end = (): void => void child.kill('SIGTERM');
      stopped.addEventListener('abort', end, { once: true });
      const [code, signal] = (await once(child, 'close')) as [number | null, string | null];
      stopped.removeEventListener('abort', end);
      if (code === 0 || stopped.aborted) return;
      const how = code === null ? `was ended by ${signal}` : `ended with exit code ${code}`;
      throw new Error(`the command of --service-fault ${how} at ${fault}: ${output.trim() || 'no output'}`);
    },
    async [Symbol.asyncDispose]() {},
  };
}
