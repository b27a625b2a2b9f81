import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '@lapel/tools/harness/free-port';
import type { Test } from 'tap';

const ROOT = join(import.meta.dirname, '..');

/** A terminal with its output and its input. Every process in it ends with the test. */
export function openTerminal(t: Test, command: readonly string[], options: SpawnOptions) {
  const [program = '', ...args] = command;
  const child: ChildProcess = spawn(program, args, { ...options, detached: true, stdio: 'pipe' });
  let output = '';
  const waiting = new Set<() => void>();
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk) => {
      output += String(chunk);
      for (const look of waiting) look();
    });
  }
  const gone = once(child, 'close');
  child.once('close', () => {
    for (const look of waiting) look();
  });
  async function end(): Promise<void> {
    if (child.exitCode === null && child.signalCode === null) process.kill(-child.pid!, 'SIGTERM');
    await gone;
  }
  t.teardown(end);
  return {
    write: (text: string) => child.stdin?.write(text),
    end,
    /** Resolves when the output contains these words; throws with the output if the process ends first. */
    async says(words: RegExp | string): Promise<string> {
      const { promise, resolve, reject } = Promise.withResolvers<string>();
      const look = (): void => {
        if (typeof words === 'string' ? output.includes(words) : words.test(output)) resolve(output);
        else if (child.exitCode !== null) reject(new Error(`${command.join(' ')} ended without ${words}:\n${output}`));
      };
      waiting.add(look);
      look();
      return promise.finally(() => waiting.delete(look));
    },
  };
}

/** The files of a checkout that commands of the documents need. */
const CHECKOUT = [
  'package.json',
  'package-lock.json',
  'node_modules',
  'bin',
  'src',
  'schemas',
  'client',
  'cli',
  'device-sim',
  'tools',
];

/**
 * A folder that looks like a fresh checkout, in which the commands of a document are run on free ports. The service
 * creates its data there.
 */
export async function freshCheckout(t: Test) {
  const cwd = t.testdir({ home: {} });
  for (const name of CHECKOUT) symlinkSync(join(ROOT, name), join(cwd, name));
  // Not the ports of the documents, because other processes may use those.
  const ports: Record<string, number> = {};
  for (const known of ['8080', '8081', '8082', '1883', '9000']) ports[known] = await freePort();
  const env = {
    PATH: process.env['PATH'],
    HOME: join(cwd, 'home'),
    SET_UP_IS_DONE: 'true', // the other tests use the same dependencies at this time
    NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'], // the same code starts many times
    LAPEL_HTTP_PORT: String(ports['8080']),
    LAPEL_ADMIN_PORT: String(ports['8081']),
    LAPEL_OBJECTS_PORT: String(ports['8082']),
    LAPEL_MQTT_PORT: String(ports['1883']),
    LAPEL_URL: `http://127.0.0.1:${ports['8080']}`,
    LAPEL_ADMIN_URL: `http://127.0.0.1:${ports['8081']}`,
  };
  return {
    cwd,
    env,
    ports,
    /** A block with these ports instead of the documented ones. */
    here: (block: string): string =>
      block
        .replaceAll(/\b(8080|8081|9000)\b|(?<=-p )1883\b/g, (known) => String(ports[known]))
        .replaceAll(/(npm run sim --|^lapel-sim)(?= )/gm, `$1 --mqtt mqtt://127.0.0.1:${ports['1883']}`),
    /** A terminal that reads commands, and ends at the first one that fails. */
    open: () => openTerminal(t, ['bash', '--norc', '-eu'], { cwd, env }),
    /** A terminal for one block, whose command stays. */
    stays: (block: string) => openTerminal(t, ['bash', '--norc', '-euc', block], { cwd, env }),
  };
}
