import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { Test } from 'tap';

const ROOT = join(import.meta.dirname, '../..');
const MAIN = join(ROOT, 'src/main.ts');

export interface Addresses {
  http: string;
  admin: string;
  mqtt: string;
  /** With TLS only. */
  mqtts?: string;
}

export const ADMIN_TOKEN = 'administrator token of the process tests';

/** What `node src/main.ts` gets from its surroundings: nothing of this machine's settings, free ports, few log lines. */
const environment = (env: Record<string, string>): Record<string, string> => ({
  PATH: process.env['PATH'] ?? '',
  NODE_COMPILE_CACHE: join(ROOT, '.tap/compile-cache'), // many starts of the same code
  LAPEL_HTTP_PORT: '0',
  LAPEL_ADMIN_PORT: '0',
  LAPEL_MQTT_PORT: '0',
  LAPEL_OBJECTS_PORT: '0',
  LAPEL_ADMIN_TOKEN: ADMIN_TOKEN,
  LAPEL_WEBHOOK_ALLOW_PRIVATE: 'true',
  LAPEL_RATE_LIMIT: '0', // load comes from one application
  LAPEL_LOG_LEVEL: 'warn',
  ...env,
});

/** Runs the command line to its end. */
export async function runMain(t: Test, args: string[], env: Record<string, string> = {}) {
  const child = spawn(process.execPath, [MAIN, ...args], { env: environment(env), stdio: ['ignore', 'pipe', 'pipe'] });
  t.teardown(() => child.kill('SIGKILL'));
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { stdout, stderr, code: code as number | null };
}

export type ServiceProcess = Awaited<ReturnType<typeof startProcess>>;

/** `lapel serve` as a process of its own; it has said that it listens. `openFiles`: its limit. Throws what it wrote when it ends before. */
export async function startProcess(t: Test, env: Record<string, string>, openFiles?: number) {
  const [command, ...args] =
    openFiles === undefined
      ? [process.execPath, MAIN, 'serve']
      : ['/bin/sh', '-c', `ulimit -n ${openFiles}; exec "$0" "$@"`, process.execPath, MAIN, 'serve'];
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
    /** All that it wrote so far. */
    output,
    /** Resolves when it has written this to standard error. */
    async said(text: string): Promise<void> {
      while (!output.stderr.includes(text)) await once(child.stderr, 'data');
    },
    /** Sends a signal; a SIGKILL has ended it when this returns. */
    signal: (name: 'SIGTERM' | 'SIGKILL' | 'SIGHUP' | 'SIGSTOP' | 'SIGCONT'): boolean => child.kill(name),
    /** Resolves when it has ended and all that it wrote was read. */
    closed,
  };
}

let nextPort = 20_000 + ((process.pid * 37) % 12_000);

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1');
  const listens = once(server, 'listening').then(
    () => true,
    () => false, // `once` rejects when there is an error
  );
  if (!(await listens)) return false;
  server.close();
  await once(server, 'close');
  return true;
}

/** Ports that stay free while nobody listens there: below those that the system gives to whoever asks for any. */
export async function fixedPorts(count: number): Promise<number[]> {
  const found: number[] = [];
  while (found.length < count) {
    const port = nextPort;
    nextPort = port < 32_000 ? port + 1 : 20_000;
    if (await isFree(port)) found.push(port);
  }
  return found;
}

/** Resolves when nobody listens on the port any more. */
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
