import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parse } from 'yaml';
import { startHaproxy } from '../../harness/haproxy.ts';
import { startPostgres } from '../../harness/postgres-server.ts';
import { ROOT } from '../release/lockfile.ts';
import type { Tools } from './tools.ts';

const TOKEN = 'administrator token of the three containers';
const HEADERS = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' };
const PORTS = { HTTP: 8080, ADMIN: 8081, MQTT: 1883 } as const;
const WAIT_MS = 60_000;
/** All nodes share this machine's network, so node 1 has port 18080 for 8080, and so on. */
const portOf = (node: string, port: number): number => Number(node.slice(-1)) * 10_000 + port;

interface Compose {
  services: Record<string, { environment: Record<string, string> }>;
}

async function becomes(url: string, status: number): Promise<void> {
  const until = performance.now() + WAIT_MS;
  for (;;) {
    const found = await fetch(url).then(
      (answer) => answer.status,
      () => 0,
    );
    if (found === status) return;
    if (performance.now() > until) throw new Error(`${url} answers ${found}, not ${status}`);
    await pause(200);
  }
}

/**
 * Runs the three nodes of compose.cluster.yaml with its settings and secrets, PostgreSQL and HAProxy on this machine, and
 * kills one. The object store is left out: no call here needs it.
 */
export async function tryCluster(
  { podman, limits, makeFolder, folder }: Tools,
  hardened: readonly string[],
  image: string,
) {
  const { services } = parse(readFileSync(join(ROOT, 'compose.cluster.yaml'), 'utf8'), { merge: true }) as Compose;
  const nodes = Object.keys(services).filter((name) => name.startsWith('node-'));
  await using server = await startPostgres();
  const secrets = makeFolder('secrets');
  writeFileSync(join(secrets, 'admin-token'), `${TOKEN}\n`, { mode: 0o444 });
  writeFileSync(join(secrets, 'database-url'), `${await server.createDatabase('cluster')}\n`, { mode: 0o444 });
  const startNode = async (node: string): Promise<void> => {
    const ports = Object.fromEntries(
      Object.entries(PORTS).map(([name, port]) => [`LAPEL_${name}_PORT`, String(portOf(node, port))]),
    );
    const settings: Record<string, string> = {
      ...services[node]?.environment,
      AWS_SECRET_ACCESS_KEY: 'none',
      ...ports,
    };
    const given = Object.entries(settings).flatMap(([name, value]) => ['-e', `${name}=${value}`]);
    const run = ['run', '--detach', '--name', node, '-v', `${secrets}:/run/secrets:ro`, ...limits, ...hardened];
    await podman([...run, ...given, image]);
  };
  await Promise.all(nodes.map(startNode));
  for (const node of nodes) await becomes(`http://127.0.0.1:${portOf(node, PORTS.ADMIN)}/readyz`, 200);

  const ports = nodes.map((node) => ({
    http: portOf(node, PORTS.HTTP),
    admin: portOf(node, PORTS.ADMIN),
    mqtt: portOf(node, PORTS.MQTT),
  }));
  await using haproxy = await startHaproxy(folder, ports);
  const url = `http://127.0.0.1:${haproxy.admin}/admin/v1/developers`;
  const body = JSON.stringify({ developerId: 'acme', name: 'Acme', deviceLimit: 10 });
  assert.equal((await fetch(url, { method: 'POST', headers: HEADERS, body })).status, 201);
  for (const node of nodes) {
    const own = `http://127.0.0.1:${portOf(node, PORTS.ADMIN)}/admin/v1/developers`;
    assert.match(await (await fetch(own, { headers: HEADERS })).text(), /acme/, `${node} knows it`);
  }
  await podman(['kill', nodes[0]!]);
  await becomes(`http://127.0.0.1:${portOf(nodes[0]!, PORTS.ADMIN)}/readyz`, 0);
  await becomes(url.replace('/admin/v1/developers', '/readyz'), 200);
  assert.equal((await fetch(url, { headers: HEADERS })).status, 200, 'the others serve on');
  for (const node of nodes.slice(1)) await podman(['stop', '--time', '10', node]);
  await podman(['rm', ...nodes]);
}
