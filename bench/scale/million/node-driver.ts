import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Config, readConfig } from '../../../src/config.ts';
import { createAudit } from '../../../src/core/audit/audit.ts';
import { createRaisedNumbers } from '../../../src/core/audit/raised-numbers.ts';
import { createCore } from '../../../src/core/core.ts';
import { renameBroker } from '../../../src/core/sessions/session-repository.ts';
import { createSettingUrlRule } from '../../../src/core/webhooks/webhook-url.ts';
import { takeoverOf } from '../../../src/edge/mqtt/mqtt-edge.ts';
import { createRevoke } from '../../../src/edge/mqtt/revoke.ts';
import { commitMetrics, createMetrics, type Metrics } from '../../../src/metrics.ts';
import { openPeers } from '../../../src/platform/cluster/open-peers.ts';
import { type Contracts, loadContracts } from '../../../src/platform/contracts/contracts.ts';
import { openDatabase } from '../../../src/platform/database/open-database.ts';
import { createServerWitness } from '../../../src/platform/database/time-witness.ts';
import { createVault } from '../../../src/platform/encryption/vault.ts';
import { createEntrances } from '../../../src/platform/entrance/entrance.ts';
import { systemClock as clock } from '../../../src/runtime/clock.ts';
import { createClockTrust } from '../../../src/runtime/clock-trust.ts';
import { createAsking } from '../../../src/runtime/current-caller.ts';
import { diskOf } from '../../../src/runtime/data-folder.ts';
import { createDeprecations } from '../../../src/runtime/deprecations.ts';
import { createOwners } from '../../../src/runtime/device-owners.ts';
import { randomIds as ids } from '../../../src/runtime/ids.ts';
import { createLog, databaseWords, type Log } from '../../../src/runtime/log.ts';
import { createParts } from '../../../src/runtime/parts.ts';
import { NO_TRACING } from '../../../src/runtime/tracing.ts';
import { Watch } from '../../../src/runtime/watch.ts';
import { createViews } from '../../../src/views/views.ts';
import type { Fleet } from './orders.ts';

/** The objects that all nodes of a process share, because the database does not see them. */
export interface Shared {
  contracts: Contracts;
  metrics: Metrics;
  log: Log;
}

export const sharedParts = (): Shared => ({
  contracts: loadContracts(),
  metrics: createMetrics(),
  log: createLog({ level: 'fatal' }),
});

export const nodeConfig = ({ databaseUrl, folder }: Pick<Fleet, 'databaseUrl' | 'folder'>, name: string): Config =>
  readConfig({
    env: {
      LAPEL_DATABASE_URL: databaseUrl,
      LAPEL_DATA_DIR: join(folder, name),
      LAPEL_PUBLIC_URL: 'http://127.0.0.1:1', // required, but never called, as the object store
      LAPEL_S3_ENDPOINT: 'http://127.0.0.1:1',
      LAPEL_ADMIN_TOKEN: 'administrator token of the bench of a million',
      LAPEL_WEBHOOK_ALLOW_PRIVATE: 'true',
      AWS_ACCESS_KEY_ID: 'none',
      AWS_SECRET_ACCESS_KEY: 'none',
    },
  });

/** The node's part of a connection, as the broker keeps it. */
interface Connection {
  epoch: number;
  isLinked: boolean;
}

/** The devices that one unit of work takes when they are connected without a login. */
const TAKEN_AT_ONCE = 200;
const MOST_TRIES = 30;
const RETRY_MS = 1_000;

export type NodeDriver = Awaited<ReturnType<typeof createNodeDriver>>;

/**
 * A node without listeners: the product's database, cluster, core and views, wired as in src/service.ts. Its functions stand
 * for the sockets: they call the core as the broker does when a packet of a device arrives.
 */
export async function createNodeDriver(config: Config, shared: Shared) {
  await using parts = createParts();
  const { log, metrics, contracts } = shared;
  const [owners, asking, vault] = [createOwners(), createAsking(), createVault()];
  const commits = commitMetrics(metrics);
  const numbers = createRaisedNumbers({ clock, ids, log, metrics });
  const database = await openDatabase({
    vault,
    url: config.databaseUrl,
    waitMs: 0,
    folder: config.dataDir,
    nowMicros: clock.now(),
    ...numbers.opening,
    onCommit: commits.observe,
    ...databaseWords(log),
    ownerOf: owners.of,
  });
  parts.add({ idle: database.idle, [Symbol.asyncDispose]: database.close });
  const trust = createClockTrust({ clock, log, witness: createServerWitness(database), told: () => undefined });
  const common = { database, clock, ids, log, metrics, contracts, watch: new Watch(), tracing: NO_TRACING, trust };
  const entrances = createEntrances(config, common);
  const peers = await openPeers(config, { ...common, encryptionKeys: vault.described });
  const { cluster } = peers;
  const takeover = takeoverOf(peers, common);
  if (!cluster || !takeover) throw new Error('the nodes need a PostgreSQL database');
  await parts.add(cluster).join();

  const connections = new Map<string, Connection>();
  const disconnect = (deviceId: string): void => void connections.delete(deviceId);
  const here = {
    isConnected: (deviceId: string): boolean => connections.has(deviceId),
    connectedCount: (): number => connections.size,
    connectedIds: (most: number) => (connections.size > most ? undefined : [...connections.keys()]),
    connectionOf: () => undefined,
  };
  const audit = parts.add(numbers.writtenTo(createAudit(common)));
  const core = await createCore({
    parts,
    config,
    peers,
    common,
    owners,
    deprecations: createDeprecations(config.apiRelease),
    entrances,
    audit,
    urlFault: createSettingUrlRule({ allowHttp: config.allowHttpWebhooks, allowPrivate: config.webhookAllowPrivate }),
    disconnect,
    revoke: createRevoke(takeover, () => ({ disconnect, carryOutWill: () => Promise.resolve() })),
    forgotten: () => undefined,
    consoleUrls: () => [],
  });
  const { devices, sessions, presence, connectionLog, statuses, transactions, requests } = core;
  peers.serve({ commands: transactions, webhooks: core.webhooks, renamed: renameBroker, connections: here });
  createViews({
    parts,
    common,
    peers,
    core,
    connections: here,
    entrances,
    asking,
    disk: () => diskOf(config.dataDir),
    commitP99: commits.p99,
    keepsHistory: true,
  });
  let settled = 0;
  const lateness: number[] = [];

  const fenceOf = (deviceId: string) => {
    const epoch = connections.get(deviceId)?.epoch;
    return epoch === undefined ? undefined : cluster.ownership.fence(deviceId, epoch);
  };

  /** Lets commands through: the device acknowledges each, and reports success. */
  function link(deviceId: string, connection: Connection): void {
    connection.isLinked = true;
    transactions.open({
      deviceId,
      epoch: connection.epoch,
      publish({ transactionId, issuedAt }, acknowledged) {
        setImmediate(() => {
          acknowledged();
          presence.heard(deviceId);
          transactions.settle(deviceId, { transactionId, status: 'succeeded' }, fenceOf(deviceId)).then(
            () => {
              settled += 1;
              lateness.push(Date.now() - Date.parse(issuedAt));
            },
            (err: unknown) => log.warn({ err }, 'an acknowledgement was not stored'),
          );
        });
      },
    });
  }

  const adoptSome = (some: readonly string[]): Promise<void> =>
    database.transact(async (unit) => {
      const taken = some.map(async (deviceId) => {
        const { epoch } = await cluster.ownership.take(unit, deviceId, () => disconnect(deviceId));
        unit.onCommit(() => void connections.set(deviceId, { epoch, isLinked: false }));
      });
      await Promise.all(taken);
    });

  const everything = parts.move();
  return {
    core,
    size: (): number => connections.size,

    /** Begins the work that a node does by itself: healing, history, expiry. Before it, only the lease is renewed. */
    start: parts.start,

    /** A CONNECT with a stored session, and the SUBSCRIBE that most clients send after it. */
    async login(deviceId: string, credential: string): Promise<void> {
      const standing = await devices.authenticate(deviceId, { credential });
      if (standing !== 'good') throw new Error(`the login of ${deviceId} was refused: ${standing}`);
      const entered = await takeover.enter(deviceId, {
        standing: (sql) => devices.authenticate(deviceId, { credential }, sql),
        persistent: true,
        isUsable: (_device, { length }) => length > 0,
        close: () => disconnect(deviceId),
      });
      if (!('epoch' in entered)) throw new Error(`the login of ${deviceId} was refused: ${entered.standing}`);
      await sessions.takeWill(deviceId, peers.nodes.id());
      await sessions.subscriptionsOf(deviceId);
      const connection = { epoch: entered.epoch, isLinked: false };
      connections.set(deviceId, connection);
      presence.heard(deviceId);
      connectionLog.connected(deviceId, { address: '127.0.0.1', transport: 'mqtts' });
      link(deviceId, connection);
      requests.open({ deviceId, respond: () => true });
      const subscribed = ['commands', 'responses', 'errors'].map((kind) => ({
        clientId: deviceId,
        topic: `devices/${deviceId}/${kind}`,
        qos: 1,
        properties: {},
      }));
      await sessions.subscribe(subscribed, entered.fence);
    },

    /** Makes the devices connected without their logins, many in a unit of work. */
    async adopt(deviceIds: readonly string[]): Promise<void> {
      for (let at = 0; at < deviceIds.length; at += TAKEN_AT_ONCE) {
        const some = deviceIds.slice(at, at + TAKEN_AT_ONCE).sort();
        for (let tries = 1; ; tries += 1) {
          try {
            await adoptSome(some);
            break;
          } catch (cause) {
            // A node whose lease was lost because the machine is busy has a new one soon.
            if (tries === MOST_TRIES) throw cause;
            await sleep(RETRY_MS);
          }
        }
      }
    },

    /** Lets commands reach a device that was connected without its login. */
    async link(deviceId: string): Promise<void> {
      const connection = connections.get(deviceId);
      if (connection && !connection.isLinked) link(deviceId, connection);
      await transactions.idle();
    },

    isConnected: here.isConnected,

    keepAlive: presence.heard,

    async report(deviceId: string, fields: object): Promise<void> {
      presence.heard(deviceId);
      await statuses.report(deviceId, fields, fenceOf(deviceId));
    },

    command: (applicationId: string, deviceId: string): Promise<number> =>
      transactions.submit({ applicationId, deviceId, operation: 'setLanguage', asked: { lang: 'ja' } }),

    /** How many commands ended here since the last call, and the milliseconds from the call to the stored end of each. */
    takeSettled(): { settled: number; lateness: number[] } {
      const found = { settled, lateness: lateness.splice(0) };
      settled = 0;
      return found;
    },

    [Symbol.asyncDispose]: () => everything[Symbol.asyncDispose](),
  };
}
