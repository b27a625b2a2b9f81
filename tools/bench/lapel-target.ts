import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startObjectStore } from '../harness/object-store.ts';
import { startPostgres } from '../harness/postgres-server.ts';
import { type AnswerOf, connectBenchDevices, type Level } from './bench-device.ts';
import { deviceIds } from './bench-ids.ts';
import { createReceiver, type Receiver, type Told } from './closed-loop.ts';
import { type Process, startProcess } from './processes.ts';
import { openRoute, type Route } from './routes.ts';
import { type KillableTarget, type Part, pathOf } from './running-target.ts';

interface Options {
  devices: number;
  /** The number of further registered devices, which never connect. */
  offline?: number;
  profile?: string | undefined;
  /** The checkout whose service is measured; by default this one. */
  checkout?: string;
  /** Makes the answers of devices; by default they succeed. */
  answer?: AnswerOf;
  /** The level of MQTT that the devices speak; by default 4, for 3.1.1. */
  level?: Level;
  /** Settings in addition to those that every bench needs. */
  env?: Record<string, string>;
  /** Fills the database of the stopped service before it starts again. */
  fill?(folder: string): void;
  /** The number of nodes on PostgreSQL, over which callers and devices are spread; 0 or none for SQLite. */
  nodes?: number;
  /** How devices and calls get to the nodes; by default they are spread. */
  route?: Route;
  /** Sees each webhook of a transaction. */
  onTold?: (told: Told) => void;
}

export interface LapelTarget extends KillableTarget {
  process: Process;
  processes: readonly Process[];
  /** The address of the administration API; `root` is the administrator's token. */
  admin: string;
  root: string;
  offlineIds: string[];
}

const SCOPE = 'svc:application:read svc:application:write svc:device:read svc:device:write';
/** The number of devices in one import request, each a line. */
const AT_ONCE = 5_000;

type Start = Pick<Options, 'profile' | 'env' | 'checkout'>;

/** Starts a node, on free ports or on those of the process that ran before. */
const start = (folder: string, { profile, env, checkout }: Start, before?: Process): Promise<Process> => {
  const portOf = (name: string): string => (before ? new URL(before.addresses[name] ?? '').port : '0');
  const ports = ['http', 'admin', 'mqtt', 'objects']
    .filter((name) => before === undefined || before.addresses[name] !== undefined)
    .flatMap((name) => [`--${name}-port`, portOf(name)]);
  return startProcess(['src/main.ts', 'serve', '--data-dir', folder, ...ports, '--log-level', 'warn'], {
    profile,
    checkout,
    env: { LAPEL_WEBHOOK_ALLOW_PRIVATE: 'true', LAPEL_RATE_LIMIT: '1000000', ...env }, // calls are counted, but never limited
  });
};

export async function call(
  url: string,
  { method, token, body, type = 'application/json' }: { method: string; token: string; body?: unknown; type?: string },
): Promise<string> {
  const headers = { authorization: token, ...(body === undefined ? {} : { 'content-type': type }) };
  const text = body === undefined ? null : typeof body === 'string' ? body : JSON.stringify(body);
  const answer = await fetch(url, { method, headers, body: text });
  if (!answer.ok) throw new Error(`${method} ${url}: ${answer.status} ${await answer.text()}`);
  return answer.text();
}

/** Registers devices; returns the credential of each by its deviceId. */
async function register(admin: string, root: string, ids: string[]): Promise<Map<string, string>> {
  const credentials = new Map<string, string>();
  for (let first = 0; first < ids.length; first += AT_ONCE) {
    const lines = ids.slice(first, first + AT_ONCE).map((deviceId) => JSON.stringify({ deviceId }));
    const answer = await call(`${admin}/admin/v1/developers/bench/devices/import`, {
      method: 'POST',
      token: root,
      body: `${lines.join('\n')}\n`,
      type: 'application/x-ndjson',
    });
    for (const line of answer.split('\n').filter((each) => each !== '')) {
      const { deviceId, credential } = JSON.parse(line) as { deviceId?: string; credential?: string };
      if (deviceId !== undefined && credential !== undefined) credentials.set(deviceId, credential);
    }
  }
  if (credentials.size !== ids.length) throw new Error(`${credentials.size} of ${ids.length} devices were registered`);
  return credentials;
}

/** Makes a developer with one application of the same name, which can make calls and gets webhooks. */
export async function makeApplication(
  { http, admin, root, receiver }: { http: string; admin: string; root: string; receiver: Receiver },
  name: string,
  deviceLimit: number,
) {
  const developer = { developerId: name, name, deviceLimit };
  await call(`${admin}/admin/v1/developers`, { method: 'POST', token: root, body: developer });
  const path = `${admin}/admin/v1/developers/${name}/applications`;
  const application = { applicationId: name, name };
  const { secret } = JSON.parse(await call(path, { method: 'POST', token: root, body: application })) as {
    secret: string;
  };
  const bearer = await logIn(http, name, secret);
  const base = `${http}/v1/applications/${name}`;
  await call(`${base}/refresh_authkey`, { method: 'POST', token: bearer });
  await call(base, { method: 'PATCH', token: bearer, body: { deviceEvent: receiver.url } });
  return { secret, bearer };
}

async function logIn(http: string, name: string, secret: string): Promise<string> {
  const answer = await call(`${http}/api/v1/authenticate`, {
    method: 'POST',
    token: `Basic ${Buffer.from(`${name}:${secret}`).toString('base64')}`,
    body: new URLSearchParams({ grant_type: 'client_credentials', scope: SCOPE }).toString(),
    type: 'application/x-www-form-urlencoded',
  });
  return `Bearer ${(JSON.parse(answer) as Record<string, string>)['access_token']}`;
}

const COMMITS = /^lapel_database_commit_duration_seconds_count(?:\{.*\})? (\d+)/m;
const CROSSED = /^lapel_cluster_hints_total\{(?=.*kind="wake").*outcome="sent".*\} (\d+)/m;

/** Returns the sum of a metric of all nodes. */
async function sumOf(metric: RegExp, admins: string[], token: string): Promise<number> {
  const texts = await Promise.all(admins.map((admin) => call(`${admin}/metrics`, { method: 'GET', token })));
  return texts.reduce((sum, text) => sum + Number(metric.exec(text)?.[1] ?? 0), 0);
}

/** Starts what the nodes of a cluster share: PostgreSQL and an object store. */
async function startShared(folder: string, stack: AsyncDisposableStack) {
  const postgres = stack.use(await startPostgres({ onDisk: true }));
  const store = stack.use(await startObjectStore(folder));
  const env = {
    ...store.env,
    LAPEL_DATABASE_URL: await postgres.createDatabase(),
    LAPEL_PUBLIC_URL: 'http://127.0.0.1:1', // required, but never called in a benchmark
    LAPEL_ADMIN_TOKEN: 'administrator token of the bench of nodes',
  };
  return { env, cpuSeconds: postgres.cpuSeconds, postgres };
}

/** Starts Lapel with an application, and connects and activates its devices. */
export async function startLapel(options: Options): Promise<LapelTarget> {
  const { devices, offline = 0, fill, nodes = 0, route = 'spread', onTold } = options;
  const folder = mkdtempSync(join(tmpdir(), 'lapel-bench-'));
  await using stack = new AsyncDisposableStack();
  stack.defer(() => rmSync(folder, { recursive: true, force: true }));
  const receiver = stack.adopt(await createReceiver({ onTold }), (made) => made.close());
  const shared = nodes > 0 ? await startShared(folder, stack) : undefined;
  const own = shared ? { ...options, env: { ...options.env, ...shared.env } } : options;
  const running: Process[] = [];
  stack.defer(async () => {
    await Promise.all(running.map((each) => each.stop()));
  });
  const folderOf = (index: number): string => (nodes > 0 ? join(folder, `node-${index}`) : folder);
  const startAll = async (given: Start): Promise<void> => {
    for (let index = 0; index < Math.max(nodes, 1); index += 1) running.push(await start(folderOf(index), given));
  };
  const service: Part = {
    async kill() {
      await running[0]?.stop('SIGKILL');
    },
    async start() {
      running[0] = await start(folderOf(0), own, running[0]);
    },
  };
  await startAll(fill ? { ...own, profile: undefined } : own);
  const of = (name: string, index = 0): string => running[index]?.addresses[name] ?? '';
  const admins = (): string[] => running.map((_, index) => of('admin', index));
  const root = `Bearer ${shared?.env.LAPEL_ADMIN_TOKEN ?? readFileSync(join(folder, 'admin-token'), 'utf8').trim()}`;
  const ids = deviceIds(devices);
  const offlineIds = deviceIds(offline, 500_000);
  const at = { http: of('http'), admin: of('admin'), root, receiver };
  const { secret, bearer } = await makeApplication(at, 'bench', devices + offline);
  const credentials = await register(of('admin'), root, [...ids, ...offlineIds]);
  const credentialOf = (deviceId: string): string => credentials.get(deviceId) ?? '';
  let routed = await openRoute(route, running, { folder, stack, deviceIds: ids });
  const connect = async () => {
    const groups = Map.groupBy(ids, (_, index) => routed.mqttPortOf(index));
    const all = [...groups].map(([port, group]) => connectBenchDevices(port, group, credentialOf, options));
    return (await Promise.all(all)).flat();
  };
  let sockets = await connect();
  stack.defer(() => sockets.forEach((socket) => void socket.destroy()));
  for (const deviceId of ids) {
    const url = `${of('http')}/v1/applications/bench/devices/${deviceId}`;
    const answer = await call(url, { method: 'POST', token: bearer, body: {} });
    await receiver.result((JSON.parse(answer) as { transactionId: number }).transactionId);
  }
  let token = bearer;
  if (fill) {
    for (const socket of sockets) socket.destroy();
    await Promise.all(running.splice(0).map((each) => each.stop()));
    fill(folder);
    await startAll(own);
    routed = await openRoute(route, running, { folder, stack, deviceIds: ids });
    token = await logIn(of('http'), 'bench', secret);
    sockets = await connect();
  }
  const everything = stack.move();
  return {
    process: running[0] as Process,
    processes: running,
    parts: { service, ...(shared && { store: shared.postgres }) },
    databaseSeconds: () => shared?.cpuSeconds() ?? 0,
    commits: () => sumOf(COMMITS, admins(), root),
    crossed: () => sumOf(CROSSED, admins(), root),
    ...routed,
    admin: of('admin'),
    root,
    mqttPort: Number(new URL(of('mqtt')).port),
    headers: { authorization: token },
    path: pathOf,
    deviceIds: ids,
    offlineIds,
    credentialOf,
    receiver,
    close: () => everything.disposeAsync(),
  };
}
