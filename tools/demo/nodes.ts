import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { AsyncDisposableStack } from '@lapel/schemas/base/async-disposable-stack';
import { MODULE_ENDING } from '@lapel/schemas/base/installation';
import { startBalancer } from '../harness/balancer.ts';
import { startObjectStore } from '../harness/object-store.ts';
import { startPostgres } from '../harness/postgres-server.ts';
import { portNear } from './ports.ts';

const MAIN = join(import.meta.dirname, `../../src/main${MODULE_ENDING}`);
export const ADMIN_TOKEN = 'administrator token of the demo with nodes';

/** One process of the service. */
export interface Node {
  readonly name: string;
  /** Sends SIGKILL, so that the node cannot tell anybody. */
  kill(): Promise<void>;
}

async function listens(child: ChildProcess, name: string): Promise<Record<string, string>> {
  let output = '';
  for await (const chunk of child.stdout ?? []) {
    output += String(chunk);
    if (output.includes('\n')) return JSON.parse(output.split('\n')[0] ?? '') as Record<string, string>;
  }
  throw new Error(`${name} ended before it listened`);
}

/**
 * Starts a cluster on one machine: PostgreSQL, an object store, nodes as processes of their own, and a TCP balancer before
 * each of their ports. All of them end with `stack`.
 */
export async function startCluster(folder: string, names: readonly string[], stack: AsyncDisposableStack) {
  const postgres = stack.use(await startPostgres());
  const store = stack.use(await startObjectStore(folder));
  const url = await postgres.createDatabase();
  const [http, admin, mqtt] = [await portNear(8080), await portNear(8081), await portNear(1883)];

  async function startNode(name: string) {
    const dataDir = join(folder, name);
    mkdirSync(dataDir);
    const env = {
      PATH: process.env['PATH'] ?? '',
      NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'], // each node loads the same code
      ...store.env,
      LAPEL_DATA_DIR: dataDir,
      LAPEL_DATABASE_URL: url,
      LAPEL_PUBLIC_URL: `http://127.0.0.1:${http}`,
      LAPEL_ADMIN_TOKEN: ADMIN_TOKEN,
      LAPEL_HTTP_PORT: '0',
      LAPEL_ADMIN_PORT: '0',
      LAPEL_MQTT_PORT: '0',
      LAPEL_WEBHOOK_ALLOW_PRIVATE: 'true', // the receiver is on this machine
      LAPEL_LOG_LEVEL: 'fatal', // the timeline shows what happens
    };
    const child = spawn(process.execPath, [MAIN, 'serve'], { env, stdio: ['ignore', 'pipe', 'inherit'] });
    const exit = once(child, 'exit');
    const end = async (signal: 'SIGTERM' | 'SIGKILL'): Promise<void> => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill(signal);
      await exit;
    };
    stack.defer(() => end('SIGTERM'));
    process.on('exit', () => child.kill('SIGKILL'));
    const addresses = await listens(child, name);
    return { name, addresses, kill: () => end('SIGKILL') };
  }
  const nodes = await Promise.all(names.map(startNode));

  for (const [kind, port] of Object.entries({ http, admin, mqtt })) {
    const targets = nodes.map(({ addresses }) => ({ port: Number(new URL(addresses[kind] ?? '').port) }));
    stack.use(await startBalancer(targets, { port }));
  }
  return {
    nodes: nodes as Node[],
    addresses: {
      http: `http://127.0.0.1:${http}`,
      admin: `http://127.0.0.1:${admin}`,
      mqtt: `mqtt://127.0.0.1:${mqtt}`,
    },
    database: `PostgreSQL on port ${postgres.port}`,
  };
}
