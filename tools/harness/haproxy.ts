import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { endingWithParent } from './ending-with-parent.ts';
import { freePort } from './free-port.ts';

const EXAMPLE = join(import.meta.dirname, '../../deploy/haproxy.cfg');
/** The time in which HAProxy must have read its configuration, in milliseconds. */
const START_MS = 30_000;
const LOOK_MS = 50;

/** The ports of a node on this machine. */
export interface NodePorts {
  http: number;
  admin: number;
  mqtt: number;
}

/** The ports of the nodes in the example. */
const PORTS = { 8080: 'http', 8081: 'admin', 1883: 'mqtt' } as const;
type ExamplePort = keyof typeof PORTS;
const SERVER = /^ +server node-(\d) node-\d:(\d+)(.*)\n/gm;

/** The example with nodes on this machine, instead of three nodes that are found by their names. */
export function haproxyOf(nodes: readonly NodePorts[]): string {
  const text = readFileSync(EXAMPLE, 'utf8').replace('maxconn 100000', 'maxconn 2000');
  return text.replaceAll(SERVER, (_, name: string, port: string) => {
    if (name !== '1') return '';
    const servers = nodes.map((node, index) => {
      const own = node[PORTS[Number(port) as ExamplePort]];
      return `  server node-${index + 1} 127.0.0.1:${own} id ${index + 1} port ${node.admin}\n`;
    });
    return servers.join('');
  });
}

export interface Haproxy extends NodePorts, AsyncDisposable {
  readonly pid: number;
}

/**
 * Starts HAProxy before nodes on this machine, with the example for clusters; `change` changes its text. It needs Debian's
 * package haproxy.
 */
export async function startHaproxy(
  folder: string,
  nodes: readonly NodePorts[],
  change: (text: string) => string = (text) => text,
): Promise<Haproxy> {
  const [http, admin, mqtt] = [await freePort(), await freePort(), await freePort()];
  const ports = { http, admin, mqtt };
  const file = join(folder, 'haproxy.cfg');
  const text = change(haproxyOf(nodes)).replaceAll(
    /(?<=^ +bind ):(\d+)/gm,
    (_, port: string) => `127.0.0.1:${ports[PORTS[Number(port) as ExamplePort]]}`,
  );
  writeFileSync(file, text);
  const env = { PATH: `${process.env['PATH']}:/usr/sbin:/sbin` };
  const [program, ...args] = endingWithParent(['haproxy', '-db', '-f', file]);
  const child = spawn(program, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  for (const output of [child.stdout, child.stderr])
    output.setEncoding('utf8').on('data', (part: string) => {
      said = `${said}${part}`.slice(-3000);
    });
  const closed = once(child, 'close');
  closed.catch(() => undefined); // `said` tells it
  const url = `http://127.0.0.1:${admin}/readyz`;
  const isUp = (): Promise<boolean> =>
    fetch(url)
      .then(({ ok }) => ok)
      .catch(() => false);
  for (const until = performance.now() + START_MS; !(await isUp()); await pause(LOOK_MS)) {
    if (child.exitCode === null && performance.now() < until) continue;
    child.kill('SIGKILL');
    throw new Error(`HAProxy does not serve: ${said}`);
  }
  return {
    ...ports,
    pid: child.pid ?? 0,
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM');
      await closed;
    },
  };
}
