import { hostname } from 'node:os';
import { loadContracts } from '@lapel/schemas/contracts/contracts';
import { createDeprecations } from '@lapel/schemas/contracts/deprecations';
import { type Config, secretFilesOf } from './config.ts';
import { createAlarmSender } from './core/alarms/alarm-sender.ts';
import { createAudit } from './core/audit/audit.ts';
import { createRaisedNumbers } from './core/audit/raised-numbers.ts';
import { createAuditSender } from './core/audit/syslog/audit-sender.ts';
import { createCore } from './core/core.ts';
import { openEncryption } from './core/encryption/encryption.ts';
import { createRetention } from './core/retention/retention.ts';
import { createSettingUrlRule } from './core/webhooks/http/webhook-url.ts';
import { sessionSweep } from './edge/admin/sessions/session-sweep.ts';
import { createEdges } from './edge/edges.ts';
import { createMqttEdge, takeoverOf } from './edge/mqtt/mqtt-edge.ts';
import { createRevoke } from './edge/mqtt/revoke.ts';
import { commitMetrics, createMetrics } from './metrics.ts';
import { type ClusterOverrides, openPeers } from './platform/cluster/open-peers.ts';
import { openDatabase } from './platform/database/open-database.ts';
import { createDatabaseCheck } from './platform/database/sqlite/database-check.ts';
import { createFolderWitness, createServerWitness } from './platform/database/time-witness.ts';
import { readKeys } from './platform/encryption/key-ring.ts';
import { createVault } from './platform/encryption/vault.ts';
import { createEntrances } from './platform/entrance/entrance.ts';
import { openTracing } from './platform/tracing/open-tracing.ts';
import { createAdministratorToken } from './runtime/administrator-token.ts';
import { type Clock, systemClock } from './runtime/clock.ts';
import { createClockTrust, type TimeWitness } from './runtime/clock-trust.ts';
import { createAsking } from './runtime/current-caller.ts';
import { currentDatabaseUrl } from './runtime/current-database-url.ts';
import { diskOf, makeFolder, openFileFault } from './runtime/data-folder.ts';
import { createOwners } from './runtime/device-owners.ts';
import { type Ids, randomIds } from './runtime/ids.ts';
import { databaseWords, type Log } from './runtime/log.ts';
import { createLogLimit } from './runtime/log-limit.ts';
import { readableByOthers } from './runtime/machine-check.ts';
import { watchOpenFiles } from './runtime/open-files-watch.ts';
import { createParts } from './runtime/parts.ts';
import { createReadiness } from './runtime/readiness.ts';
import { Watch } from './runtime/watch.ts';
import { historySweep } from './views/history-sweep.ts';
import { serviceHistorySweep } from './views/service-history-sweep.ts';
import { createViews } from './views/views.ts';

interface Overrides {
  log: Log;
  clock?: Clock;
  ids?: Ids;
  cluster?: ClusterOverrides;
  /** The witness of the time beside the clock: by default the data folder, or the server of the database. */
  timeWitness?: TimeWitness;
  /** True, the default, to read a SQLite database whole once, to find damage. */
  checksDatabase?: boolean;
  /** The factor by which the pauses of retention and removals are longer than the steps before them; 19 by default. */
  pauseFactor?: number;
  /** True, the default, to record figures of the fleet every ten seconds. */
  keepsHistory?: boolean;
  /** True, the default, to send the text of `/metrics` again for a second after it was written. */
  keepsMetrics?: boolean;
}

const firstOf = (reasons: readonly (string | undefined)[]): string | undefined =>
  reasons.find((reason) => reason !== undefined);

export type Service = Awaited<ReturnType<typeof createService>>;

/**
 * Creates, connects and starts all parts of the service. Parts are started in the order in which they are added, and
 * stopped in reverse: first the listeners finish their requests, then the queues stop, then the database is closed.
 * Throws DATA_FOLDER_IN_USE and SETTING_INVALID, after it has stopped the parts that were started.
 */
export async function createService(
  config: Config,
  { log, clock = systemClock, ids = randomIds, ...overrides }: Overrides,
) {
  await using parts = createParts();
  const metrics = createMetrics();
  const deprecations = createDeprecations(config.apiRelease);
  const { allowHttpWebhooks: allowHttp, webhookAllowPrivate: allowPrivate } = config;
  const urlFault = createSettingUrlRule({ allowHttp, allowPrivate });
  const contracts = loadContracts({ urlFault, serves: deprecations.serves });
  const readiness = createReadiness({ clock });
  readiness.set('service', () => 'is starting');

  // 1. The platform: the database, and, in a cluster, the connection to the other nodes.
  makeFolder(config.dataDir);
  readiness.set('files', () => openFileFault(config.dataDir));
  for (const problem of readableByOthers(secretFilesOf(config))) log.warn(`a file with a secret: ${problem}`);
  const files = parts.add(
    watchOpenFiles({ clock, log, logLimit: createLogLimit({ clock }), metrics, ...config.files }),
  );
  readiness.note('files', files.doubt);
  const tracing = parts.add(await openTracing(config.tracing, { clock, log, metrics }));
  const commits = commitMetrics(metrics);
  const numbers = createRaisedNumbers({ clock, ids, log, metrics });
  const [owners, asking] = [createOwners(), createAsking()];
  const ring = await readKeys(config.encryption);
  const vault = createVault();
  vault.setKeys(ring);
  const database = await openDatabase({
    vault,
    url: config.databaseUrl,
    ...(config.databaseUrl !== null && {
      currentUrl: currentDatabaseUrl(config.databaseUrl, config.databaseUrlFile),
    }),
    waitMs: config.databaseWaitSeconds * 1000,
    folder: config.dataDir,
    nowMicros: clock.now(),
    ...numbers.opening,
    onCommit: commits.observe,
    ...databaseWords(log),
    ownerOf: owners.of,
  });
  parts.add({ idle: database.idle, [Symbol.asyncDispose]: database.close });
  const trust = parts.add(
    createClockTrust({
      clock,
      log,
      witness:
        overrides.timeWitness ??
        (config.databaseUrl === null ? createFolderWitness(config.dataDir, database) : createServerWitness(database)),
      told: (isHeld) => metrics.clockHeld.set(isHeld ? 1 : 0),
      compared: (ahead) => metrics.clockAhead.set(ahead / 1_000_000),
    }),
  );
  await trust.start();
  readiness.set('clock', trust.trouble);
  readiness.note('clock', trust.doubt);
  const common = { database, clock, ids, log, metrics, contracts, watch: new Watch(), tracing, trust };
  const pacing = overrides.pauseFactor === undefined ? {} : { pauseFactor: overrides.pauseFactor };
  // Only a SQLite file is checked for damage; a PostgreSQL server checks its files itself.
  const checks = config.databaseUrl === null && (overrides.checksDatabase ?? true);
  const check = checks ? parts.add(createDatabaseCheck({ sql: database.aside, ...common })) : null;
  const healthy = async () => ((await database.healthy()) ? undefined : 'does not answer');
  readiness.set('database', async () => check?.trouble() ?? healthy());
  readiness.note('database', () => database.doubt?.());
  const entrances = createEntrances(config, common);
  parts.add(entrances.certificates);
  const { token, tokenFile } = config.admin;
  const administratorToken = createAdministratorToken({ ...common, token, file: tokenFile, folder: config.dataDir });
  const peers = await openPeers(config, { ...common, encryptionKeys: vault.described }, overrides.cluster);
  const { cluster } = peers;
  if (cluster) {
    await parts.add(cluster).join();
    numbers.onOther(cluster.startOver);
    readiness.set('node', () => cluster.nodes.trouble() ?? cluster.heal.trouble() ?? cluster.partitions.trouble());
  }

  const encryption = await openEncryption({ ...common, vault, ring, source: config.encryption, peers });
  parts.add(encryption);
  if (config.encryption !== null) readiness.set('encryption', encryption.trouble);
  cluster?.heal.add(encryption.lookAgain);

  // 2. The core, which makes all decisions, and the MQTT broker, which exchanges messages with the devices.
  const consoleUrls: string[] = [];
  const takeover = takeoverOf(peers, common);
  const wiring = { parts, config, peers, common, owners, asking, deprecations, readiness, entrances };
  const audit = parts.add(numbers.writtenTo(createAudit(common)));
  const auditSender =
    config.auditSyslog === null
      ? undefined
      : parts.add(createAuditSender({ ...common, ...config.auditSyslog, host: hostname(), leads: peers.nodes.leads }));
  if (auditSender) audit.onSealed(auditSender.wake);
  const core = await createCore({
    ...wiring,
    ...pacing,
    audit,
    urlFault,
    revoke: createRevoke(takeover, () => broker),
    disconnect: (deviceId) => broker.disconnect(deviceId, 'kept'),
    forgotten: (about) => feed.recheck(about),
    consoleUrls: () => consoleUrls,
  });
  readiness.note('overlooked', () => firstOf(core.slowLooks.map(({ doubt }) => doubt())));
  readiness.set('overlooked', () => firstOf(core.slowLooks.map(({ trouble }) => trouble())));
  encryption.onChange(() => core.objects.key?.seal());
  numbers.onRestored(() => {
    core.rollouts.pauseRestored();
    core.deviceActions.stopRestored();
  });
  const { broker, addresses: mqtt } = await createMqttEdge({ ...wiring, core, takeover });

  // 3. The views, which read lists and figures, and the HTTP listeners of the API and of administration.
  const views = createViews({
    ...wiring,
    core,
    connections: broker,
    commitP99: commits.p99,
    keepsHistory: overrides.keepsHistory ?? true,
    kept: config.retention,
    auditWaiting: auditSender?.waiting,
    disk: () => diskOf(config.dataDir),
  });
  const alarmSender =
    config.alarms === null
      ? undefined
      : parts.add(
          createAlarmSender({
            ...common,
            receiver: config.alarms,
            leads: peers.nodes.leads,
            async find() {
              // That this process starts or stops is for its balancer only.
              const problems = (await readiness.problems()).filter(({ part }) => part !== 'service');
              return views.serviceState.alarms(problems, readiness.notes());
            },
          }),
        );

  const {
    feed,
    admin,
    api,
    metrics: ofMetrics,
    publicUrl,
    leave,
  } = createEdges({
    ...wiring,
    core,
    views,
    audit,
    encryption,
    auditSender,
    alarmSender,
    administratorToken,
    mqttUrls: () => Object.values(mqtt.urls),
    keepsMetrics: overrides.keepsMetrics ?? true,
  });

  // 4. Removal of old rows, and the parts that stop first: what readers wait for, and then the taking of devices from other nodes.
  const sweeps = [...core.sweeps, sessionSweep(), historySweep(), serviceHistorySweep()];
  const { sweepObjects } = core.software;
  parts.add(createRetention({ ...common, ...pacing, sweeps, sweepObjects, leads: peers.nodes.leads }));
  parts.add({
    start: () => readiness.set('service', () => undefined),
    async [Symbol.asyncDispose]() {
      readiness.set('service', () => 'is stopping');
      // Transfers have more time to end than all requests, so their time begins with that of the requests.
      core.objects.drainClients();
      peers.ownership.leave();
    },
  });
  parts.add(feed);
  parts.add(core.stream);
  parts.add(core.feeding); // stopped before the stream that it reads
  parts.add(audit.waitingNotes); // stopped first: parts that end store their last notes, and must not wait

  await parts.start();
  consoleUrls.push(admin.url(), api.url(), publicUrl(), config.consoleUrl ?? admin.url());
  const everything = parts.move();
  return {
    addresses: {
      http: api.url(),
      admin: admin.url(),
      ...mqtt.urls,
      objects: core.objects.url,
      ...(ofMetrics && { metrics: ofMetrics.url() }),
    },
    adminToken: administratorToken.newest(),
    metrics,
    /** Reads the TLS files again; see createCertificates. */
    reloadTls: entrances.certificates.reload,
    /** Reads the file of the administrator token again; true when it has other tokens. */
    reloadToken: administratorToken.look,
    /** True while the device has an MQTT connection. */
    isConnected: broker.isConnected,
    /** The questions that a supervisor may ask: see createSupervisor. */
    vitals: { problems: readiness.problems, commit: () => database.transact(async () => undefined) },
    /** Resolves when no part of the service has work, until a request, a message, an answer or a timer brings some. */
    async idle(): Promise<void> {
      const done = database.hurry();
      try {
        await parts.idle(commits.count);
      } finally {
        done();
      }
    },
    /**
     * Called before the service stops: `/readyz` says so, and connections of callers that are in use end with an answer.
     * Resolves after half a second at most.
     */
    async leave(): Promise<void> {
      readiness.set('service', () => 'is stopping');
      await leave();
    },
    [Symbol.asyncDispose]: () => everything[Symbol.asyncDispose](),
  };
}
