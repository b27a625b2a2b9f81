import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Balancer, startBalancer } from '@lapel/tools/harness/balancer';
import { freePorts } from '@lapel/tools/harness/free-port';
import { startObjectStore } from '@lapel/tools/harness/object-store';
import pg from 'pg';
import type { Test } from 'tap';
import { type ServiceProcess, startProcess } from '../flow/service-process.ts';
import { startTestPostgres } from '../postgres/databases.ts';

interface Node {
  process: ServiceProcess;
  running: boolean;
  /** The network between the node and the database. */
  readonly network: Balancer;
  readonly env: Record<string, string>;
}

export type NodesTarget = Awaited<ReturnType<typeof startNodesTarget>>;

/** Nodes as separate processes on one database, behind a balancer, each with its own network to the database. */
export async function startNodesTarget(t: Test, { nodes: count = 3 } = {}) {
  const folder = t.testdir();
  const postgres = await startTestPostgres();
  t.teardown(() => postgres[Symbol.asyncDispose]());
  const store = await startObjectStore(folder);
  t.teardown(() => store[Symbol.asyncDispose]());
  const url = new URL(await postgres.createDatabase());
  const ports = await freePorts(count * 3);
  const portOf = (index: number, kind: number): number => ports[index * 3 + kind] ?? 0;

  async function startBefore(kind: number): Promise<Balancer> {
    const balancer = await startBalancer(Array.from({ length: count }, (_, index) => ({ port: portOf(index, kind) })));
    t.teardown(() => balancer[Symbol.asyncDispose]());
    return balancer;
  }
  const [http, admin, mqtt] = (await Promise.all([0, 1, 2].map(startBefore))) as [Balancer, Balancer, Balancer];

  async function startNode(index: number): Promise<Node> {
    const network = await startBalancer([{ port: postgres.port }]);
    t.teardown(() => network[Symbol.asyncDispose]());
    const own = new URL(url);
    own.hostname = '127.0.0.1';
    own.port = String(network.port);
    const dataDir = join(folder, `node-${index}`);
    mkdirSync(dataDir);
    const env = {
      ...store.env,
      LAPEL_DATA_DIR: dataDir,
      LAPEL_DATABASE_URL: own.href,
      LAPEL_PUBLIC_URL: `http://127.0.0.1:${http.port}`,
      LAPEL_HTTP_PORT: String(portOf(index, 0)),
      LAPEL_ADMIN_PORT: String(portOf(index, 1)),
      LAPEL_MQTT_PORT: String(portOf(index, 2)),
      LAPEL_LOG_LEVEL: 'fatal',
    };
    return { process: await startProcess(t, env), running: true, network, env };
  }
  const nodes = await Promise.all(Array.from({ length: count }, (_, index) => startNode(index)));
  const nodeAt = (index: number): Node => nodes[index] ?? nodes[0]!;

  return {
    http: http.port,
    admin: admin.port,
    mqtt: mqtt.port,
    mayRefuse: true,
    /** The address of MQTT of one node, not through the balancer. */
    mqttOf: (index: number): string => nodeAt(index).process.addresses.mqtt,
    /** Runs a query in the database of the nodes. */
    async query<Row>(sql: string): Promise<Row[]> {
      const client = new pg.Client({ connectionString: url.href });
      await client.connect();
      const { rows } = await client.query(sql);
      await client.end();
      return rows as Row[];
    },
    /** Kills a node with SIGKILL. */
    kill(index: number): void {
      const node = nodeAt(index);
      node.running = false;
      node.process.signal('SIGKILL');
    },
    async restart(index: number): Promise<void> {
      const node = nodeAt(index);
      await node.process.closed;
      node.process = await startProcess(t, node.env);
      node.running = true;
    },
    /** Stops a node with SIGTERM, as a rolling upgrade does; resolves when it has ended. */
    async end(index: number): Promise<void> {
      const node = nodeAt(index);
      node.running = false;
      node.process.signal('SIGTERM');
      t.same(await node.process.closed, { code: 0, signal: null }, 'it ends in good order');
    },
    /** Freezes a node in the middle of its work (SIGSTOP), or lets it continue. */
    freeze(index: number, frozen: boolean): void {
      nodeAt(index).process.signal(frozen ? 'SIGSTOP' : 'SIGCONT');
    },
    /** Swallows the packets between the node and the database in both directions, or stops doing so. */
    isolate: (index: number, isolated: boolean): void => nodeAt(index).network.freeze(isolated),
    /** Ends every connection of the node to the database, including that for hints. */
    cut: (index: number): void => nodeAt(index).network.cut(),
    /** Kills the database server with SIGKILL. */
    killDatabase: (): Promise<void> => postgres.kill(),
    startDatabase: (): Promise<void> => postgres.start(),

    async stop(): Promise<void> {
      for (const { process, running } of nodes) if (running) process.signal('SIGTERM');
      for (const { process, running } of nodes)
        if (running) t.same(await process.closed, { code: 0, signal: null }, 'a node ends in good order');
    },
    async deliveries(): Promise<{ id: number; status: string }[]> {
      const rows = await this.query<{ id: string; status: string }>(
        'SELECT transaction_id AS id, status FROM deliveries',
      );
      return rows.map(({ id, status }) => ({ id: Number(id), status: String(status) }));
    },
  };
}
