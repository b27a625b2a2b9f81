import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../harness/free-port.ts';
import { startPostgres } from '../../harness/postgres-server.ts';
import { connectBenchDevices } from '../bench-device.ts';
import { deviceIds } from '../bench-ids.ts';
import { createReceiver, type Told } from '../closed-loop.ts';
import { type KillableTarget, type Part, pathOf } from '../running-target.ts';
import { type Program, startProgram } from './program.ts';
import { type Fsync, startMosquitto, startRedis, startRestate } from './stores.ts';

/** A peer: its service, and the store that the service keeps its commands in. */
interface Peer {
  /** Its name in the tables. */
  title: string;
  /** The file of its service. */
  service: string;
  store: { redis: Fsync } | 'postgres' | 'restate';
}

export const PEERS = {
  'bullmq-always': { title: 'BullMQ, fsync always', service: 'services/bullmq.ts', store: { redis: 'always' } },
  'bullmq-everysec': {
    title: 'BullMQ, fsync every second',
    service: 'services/bullmq.ts',
    store: { redis: 'everysec' },
  },
  'pg-boss': { title: 'pg-boss', service: 'services/pg-boss.ts', store: 'postgres' },
  dbos: { title: 'DBOS', service: 'services/dbos.ts', store: 'postgres' },
  restate: { title: 'Restate', service: 'restate/service.ts', store: 'restate' },
} as const satisfies Record<string, Peer>;

export type PeerName = keyof typeof PEERS;

/** The programs of a peer, with data of their own in a temporary folder, without devices. */
export interface RunningPeer extends AsyncDisposable {
  httpPort: number;
  mqttPort: number;
  /** The key with which its webhooks are signed. */
  secret: string;
  programs: readonly Program[];
  databaseSeconds(): number;
  parts: Record<'service' | 'broker' | 'store', Part>;
}

async function startStore(store: Peer['store'], folder: string, stack: AsyncDisposableStack) {
  if (store === 'restate') {
    const { server, url } = await startRestate(folder);
    stack.use(server);
    return { url, programs: [server], databaseSeconds: () => 0, part: server };
  }
  if (store !== 'postgres') {
    const redis = stack.use(await startRedis(folder, store.redis));
    return { url: `redis://127.0.0.1:${redis.port}`, programs: [redis], databaseSeconds: () => 0, part: redis };
  }
  const postgres = stack.use(await startPostgres({ onDisk: true }));
  return {
    url: await postgres.createDatabase(),
    programs: [],
    databaseSeconds: () => postgres.cpuSeconds(),
    part: postgres,
  };
}

/** Starts the store, the broker and the service of a peer. */
export async function startPeer(name: PeerName, receiver: string): Promise<RunningPeer> {
  const peer = PEERS[name];
  await using stack = new AsyncDisposableStack(); // ends what has started when something does not
  const folder = mkdtempSync(join(tmpdir(), 'lapel-peer-'));
  stack.defer(() => rmSync(folder, { recursive: true, force: true }));
  const store = await startStore(peer.store, folder, stack);
  const broker = stack.use(await startMosquitto(folder));
  const port = await freePort();
  const secret = `whsec_${randomBytes(32).toString('base64')}`;
  const config = { port, mqtt: broker.port, store: store.url, receiver, secret };
  const file = join(import.meta.dirname, peer.service);
  const command = [process.execPath, file, JSON.stringify(config)];
  const service = stack.use(await startProgram({ command, port, log: join(folder, 'service.log') }));
  const everything = stack.move();
  return {
    httpPort: port,
    mqttPort: broker.port,
    secret,
    programs: [service, broker, ...store.programs],
    databaseSeconds: store.databaseSeconds,
    parts: { service, broker, store: store.part },
    [Symbol.asyncDispose]: () => everything.disposeAsync(),
  };
}

/** The brokers of peers check no credentials. */
const credentialOf = (): string => 'none';

/** Starts a peer with its devices, to be measured; `onTold` sees each webhook of a transaction. */
export async function startPeerTarget(
  name: PeerName,
  { devices, onTold }: { devices: number; onTold?: (told: Told) => void },
): Promise<KillableTarget> {
  await using stack = new AsyncDisposableStack();
  const receiver = stack.adopt(await createReceiver({ onTold }), (made) => made.close());
  const peer = stack.use(await startPeer(name, receiver.url));
  const ids = deviceIds(devices);
  const sockets = await connectBenchDevices(peer.mqttPort, ids, credentialOf);
  stack.defer(() => sockets.forEach((socket) => void socket.destroy()));
  const everything = stack.move();
  return {
    processes: peer.programs,
    databaseSeconds: peer.databaseSeconds,
    commits: () => Promise.resolve(Number.NaN),
    origins: [`http://127.0.0.1:${peer.httpPort}`],
    parts: peer.parts,
    mqttPort: peer.mqttPort,
    credentialOf,
    headers: {},
    path: pathOf,
    deviceIds: ids,
    receiver,
    close: () => everything.disposeAsync(),
  };
}
