import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { Test } from 'tap';

const ROOT = join(import.meta.dirname, '../..');
const MAIN = join(ROOT, 'src/main.ts');

export interface Addresses {
  http: string;
  admin: string;
  mqtt: string;
  /** The address of MQTT over TLS, if it is on. */
  mqtts?: string;
}

export const ADMIN_TOKEN = 'administrator token of the process tests';

/**
 * The environment of `node src/main.ts`: no settings of this machine, free ports, few log lines. `undefined` takes a
 * variable away.
 */
const environment = (env: Record<string, string | undefined>): Record<string, string | undefined> => ({
  PATH: process.env['PATH'] ?? '',
  NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'], // the same code starts many times
  LAPEL_HTTP_PORT: '0',
  LAPEL_ADMIN_PORT: '0',
  LAPEL_MQTT_PORT: '0',
  LAPEL_OBJECTS_PORT: '0',
  LAPEL_ADMIN_TOKEN: ADMIN_TOKEN,
  LAPEL_WEBHOOK_ALLOW_PRIVATE: 'true',
  LAPEL_RATE_LIMIT: '0', // one application makes all the load
  LAPEL_LOG_LEVEL: 'warn',
  ...env,
});

/** Runs the command line until it ends. */
export async function runMain(t: Test, args: string[], env: Record<string, string> = {}) {
  const child = spawn(process.execPath, [MAIN, ...args], { env: environment(env), stdio: ['ignore', 'pipe', 'pipe'] });
  t.teardown(() => child.kill('SIGKILL'));
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { stdout, stderr, code: code as number | null };
}

export type ServiceProcess = Awaited<ReturnType<typeof startProcess>>;

/**
 * `lapel serve` as a separate process that has reported its addresses. `openFiles` is its limit of open files, `main`
 * the program, if it is not that of this checkout. Throws the process's output if it ends first.
 */
export async function startProcess(
  t: Pick<Test, 'teardown'>,
  env: Record<string, string | undefined>,
  { openFiles, main = MAIN }: { openFiles?: number; main?: string } = {},
) {
  const [command, ...args] =
    openFiles === undefined
      ? [process.execPath, main, 'serve']
      : ['/bin/sh', '-c', `ulimit -n ${openFiles}; exec "$0" "$@"`, process.execPath, main, 'serve'];
  const child = spawn(command as string, args, { env: environment(env), stdio: ['ignore', 'pipe', 'pipe'] });
  t.teardown(() => child.kill('SIGKILL'));
  const closed = once(child, 'close').then((ends) => {
    const [code, signal] = ends as [number | null, string | null];
    return { code, signal };
  });
  const output = { stdout: '', stderr: '' };
  const listening = Promise.withResolvers<Addresses>();
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    output.stdout += chunk;
    if (output.stdout.endsWith('\n')) listening.resolve(JSON.parse(output.stdout.split('\n')[0]!) as Addresses);
  });
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    output.stderr += chunk;
  });
  void closed.then(({ code }) =>
    listening.reject(new Error(`ended with ${code} before it listened: ${output.stderr}`)),
  );
  const addresses = await listening.promise;
  return {
    addresses,
    pid: child.pid,
    /** The output so far. */
    output,
    /** Resolves when standard error contains this text. */
    async said(text: string): Promise<void> {
      while (!output.stderr.includes(text)) await once(child.stderr, 'data');
    },
    /** Sends a signal; after SIGKILL the process has ended when this returns. */
    signal: (name: 'SIGTERM' | 'SIGKILL' | 'SIGHUP' | 'SIGSTOP' | 'SIGCONT'): boolean => child.kill(name),
    /** Resolves when the process has ended and its whole output was read. */
    closed,
  };
}

/** Resolves when no process listens on the port any more. */
export async function refusedOn(port: number): Promise<void> {
  for (;;) {
    const socket = connect(port, '127.0.0.1');
    const listens = await once(socket, 'connect').then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (!listens) return;
  }
}
