import { createAdminServer } from './admin/admin-server.ts';
import { keyedReceiver } from './admin/fleet-deliveries.ts';
import { summaryOf } from './admin/fleet-figures.ts';
import { createMetricsText } from './admin/metrics-text.ts';
import { createSurvey } from './admin/survey.ts';
import { createApiServer } from './api/api-server.ts';
import { createAccessTokens } from './applications/access-tokens.ts';
import { createApplications } from './applications/applications.ts';
import { createDevelopers } from './applications/developers.ts';
import { createLegacyTokens } from './applications/legacy-tokens.ts';
import { createAsking } from './asking.ts';
import { createAudit } from './audit/audit.ts';
import { auditSweep } from './audit/audit-sweep.ts';
import { createRaisedNumbers } from './audit/raised-numbers.ts';
import { createMqttAddresses } from './broker/addresses.ts';
import { createBroker } from './broker/broker.ts';
import { createDeviceMessages } from './broker/device-messages.ts';
import { createRevoke } from './broker/revoke.ts';
import { type Clock, createLocalTime, createLocalTimeReader, systemClock } from './clock.ts';
import { type ClusterOverrides, openCluster, SINGLE } from './cluster/open-cluster.ts';
import { serveHints } from './cluster/serve-hints.ts';
import type { Config } from './config.ts';
import { createFeed } from './console/feed.ts';
import { createFeedSources } from './console/feed-sources.ts';
import { createReadFiles } from './console/files.ts';
import { createConsolePages } from './console/pages.ts';
import { sessionSweep } from './console/session-sweep.ts';
import { createConsoleSessions } from './console/sessions.ts';
import { loadContracts } from './contracts/contracts.ts';
import { adminToken, makeFolder, openFileFault } from './data-folder.ts';
import { inTurn } from './database/in-turn.ts';
import { openDatabase } from './database/open-database.ts';
import { createDatabaseCheck } from './database/sqlite/database-check.ts';
import { createDeprecations } from './deprecations.ts';
import { hasActivatedDevice, hasDevices } from './devices/device-repository.ts';
import { createDevices } from './devices/devices.ts';
import { deviceRow } from './devices/fleet-list.ts';
import { createStatuses } from './devices/statuses.ts';
import { createDocs } from './docs/docs.ts';
import { createAnswering } from './events/answering.ts';
import { createDeviceEvents } from './events/device-events.ts';
import { createEventBytes } from './events/event-bytes.ts';
import { deleteEvents } from './events/event-repository.ts';
import { eventSweep } from './events/event-sweep.ts';
import { createFleetFigures } from './fleet/figures.ts';
import { createFleetHistory } from './fleet/history.ts';
import { historySweep } from './fleet/history-sweep.ts';
import { createKept } from './fleet/kept.ts';
import { createLooks } from './fleet/looks.ts';
import { type Ids, randomIds } from './ids.ts';
import { servedAt } from './listening.ts';
import { databaseWords, type Log } from './log.ts';
import { createLogLimit } from './log-limit.ts';
import { commitMetrics, createMetrics } from './metrics.ts';
import { openObjects } from './objects/open-objects.ts';
import { watchOpenFiles } from './open-files.ts';
import { createOwners } from './owners.ts';
import { createParts } from './parts.ts';
import { createReadiness } from './readiness.ts';
import { deleteRequests } from './requests/request-repository.ts';
import { requestSweep } from './requests/request-sweep.ts';
import { createRetention } from './retention/retention.ts';
import { createConnectionView } from './sessions/connection-view.ts';
import { createOrphanedWills } from './sessions/orphaned-wills.ts';
import { createPresence } from './sessions/presence.ts';
import { renameBroker } from './sessions/session-repository.ts';
import { createSessions } from './sessions/sessions.ts';
import { createTakeover } from './sessions/takeover.ts';
import { aboutObjects } from './software/owner.ts';
import { hasPackages } from './software/package-repository.ts';
import { createQuotas } from './software/quotas.ts';
import { createSoftware } from './software/software.ts';
import { createCancellation } from './transactions/cancellation.ts';
import { idempotencySweep } from './transactions/idempotency-sweep.ts';
import { surveyDue } from './transactions/transaction-repository.ts';
import { transactionSweep } from './transactions/transaction-sweep.ts';
import { createTransactions } from './transactions/transactions.ts';
import { Watch } from './watch.ts';
import { createAllDeliveries } from './webhooks/all-deliveries.ts';
import { createDeliveryLog } from './webhooks/delivery-log.ts';
import { surveyPending } from './webhooks/delivery-repository.ts';
import { findApplicationOfDelivery } from './webhooks/delivery-row-repository.ts';
import { deliverySweep } from './webhooks/delivery-sweep.ts';
import { findPendingTransactions } from './webhooks/delivery-sweep-repository.ts';
import { createReceiverStates } from './webhooks/receiver-states.ts';
import { createSettingUrlRule } from './webhooks/webhook-url.ts';
import { createWebhooks } from './webhooks/webhooks.ts';

interface Overrides {
  log: Log;
  clock?: Clock;
  ids?: Ids;
  cluster?: ClusterOverrides;
  /** Whether it writes down figures of the fleet every ten seconds; it does, unless told. */
  keepsHistory?: boolean;
  /** Whether it answers `/metrics` from what it keeps for a second; it does, unless told. */
  keepsMetrics?: boolean;
}

export type Service = Awaited<ReturnType<typeof createService>>;

/**
 * Builds, wires and starts the whole service. Parts are started in the order in which they are added, and stopped in
 * reverse: first the edges stop taking work and finish what they have, then the workers, then the database. Throws
 * DATA_FOLDER_IN_USE and SETTING_INVALID; whatever had been started is stopped then.
 */
export async function createService(
  config: Config,
  { log, clock = systemClock, ids = randomIds, ...overrides }: Overrides,
) {
  await using parts = createParts();
  const metrics = createMetrics();
  const logLimit = createLogLimit({ clock });
  const formatTime = createLocalTime(config.timeZone);
  const deprecations = createDeprecations(config.apiRelease);
  const { allowHttpWebhooks: allowHttp, webhookAllowPrivate: allowPrivate, failedLoginLimit } = config;
  const urlFault = createSettingUrlRule({ allowHttp, allowPrivate });
  const contracts = loadContracts({ urlFault, serves: deprecations.serves });
  const adminUrl = (): string => admin.url();
  const publicUrl = (): string => config.publicUrl ?? api.url();

  makeFolder(config.dataDir);
  parts.add(watchOpenFiles({ clock, log, logLimit, metrics }));
  const commits = commitMetrics(metrics);
  const numbers = createRaisedNumbers({ clock, ids, log, metrics });
  const [owners, asking] = [createOwners(), createAsking()];
  const database = await openDatabase({
    url: config.databaseUrl,
    waitMs: config.databaseWaitSeconds * 1000,
    folder: config.dataDir,
    nowMicros: clock.now(),
    ...numbers.opening,
    onCommit: commits.observe,
    ...databaseWords(log),
    ownerOf: owners.of,
  });
  parts.add({ idle: database.idle, [Symbol.asyncDispose]: database.close });
  // What PostgreSQL holds, PostgreSQL checks.
  const check = database.shared ? null : parts.add(createDatabaseCheck({ sql: database.aside, clock, log, metrics }));
  const token = adminToken(config, ids);
  const watch = new Watch();
  const common = { database, clock, ids, log, metrics, contracts, watch };
  const cluster =
    config.databaseUrl === null
      ? undefined
      : parts.add(await openCluster(config.databaseUrl, config, common, overrides.cluster));
  await cluster?.join();
  const { count: nodes, leads } = cluster?.nodes ?? SINGLE;

  const developers = createDevelopers({
    ...common,
    isInUse: async (unit, id) => (await hasDevices(unit, id)) || (await hasPackages(unit, id)),
  });
  const applications = createApplications({
    ...common,
    urlFault,
    isInUse: hasActivatedDevice,
    changed: (about) => cluster?.bus.broadcast({ kind: 'changed', about }),
    forgotten: (about) => feed.recheck(about),
  });
  cluster?.bus.on('changed', applications.changedElsewhere);
  cluster?.bus.onGap(applications.changedElsewhere);
  const findApplication = applications.findIn;
  const webhooks = parts.add(
    createWebhooks({
      ...common,
      endpointOf: applications.endpointOf,
      findApplication,
      share: cluster?.partitions,
      allowPrivate,
    }),
  );
  /** Where pages of the console are. */
  const consoleUrls: string[] = [];
  const quotas = createQuotas({ ...common, limits: config.quotas });
  const ofObjects = { ...aboutObjects(database.read), admits: quotas.admits };
  const objects = parts.add(await openObjects({ ...common, ...ofObjects, config, pages: () => consoleUrls }));
  const software = parts.add(
    createSoftware({ ...common, quotas, objects: objects.store, reservedPrefix: config.reservedPackagePrefix }),
  );
  const transactions = parts.add(
    createTransactions({
      ...common,
      recordEvent: webhooks.begin,
      findApplication,
      lockApplication: applications.lockIn,
      installs: software.installs,
      ownership: cluster?.ownership,
    }),
  );
  const sessions = createSessions(common);
  const takeover = cluster && createTakeover({ ...common, ownership: cluster.ownership });
  const presence = parts.add(createPresence(common));
  const devices = createDevices({
    ...common,
    owners,
    requireDeveloper: developers.find,
    revoke: createRevoke(takeover, () => broker),
    forgetting: [sessions.remove, presence.remove, deleteEvents, deleteRequests],
    removed: cluster?.ownership.remove,
    endTransactions: transactions.endAll,
  });
  const connectedHere = (ids: readonly string[]) => new Set(ids.filter((deviceId) => broker.isConnected(deviceId)));
  const connected = cluster?.ownership.connected ?? connectedHere;
  const statuses = createStatuses({ ...common, presence, connected });
  const connectedIds = cluster?.ownership.connectedIds ?? ((most: number) => broker.connectedIds(most));
  const watched = { ...common, presence, connected, connectedIds, versionsOf: statuses.versionsOf };
  const looks = createLooks({ ...watched, aside: database.aside });
  const { device: deviceMebibytes, application: applicationMebibytes } = config.eventMebibytes;
  const bytes = createEventBytes({ clock, metrics, deviceMebibytes, applicationMebibytes, nodes });
  const events = createDeviceEvents({ ...common, deprecations, findApplication, record: webhooks.record, bytes });
  const requests = parts.add(
    createAnswering({ ...common, ...events, ...transactions, findApplication, allowHttp, allowPrivate }),
  );

  const broker = parts.add(
    await createBroker({
      commands: transactions.demand,
      ...common,
      ...config.mqtt,
      sessions,
      presence,
      authenticate: devices.authenticate,
      ownerOf: owners.of,
      takeover,
      nodeId: cluster?.nodes.id,
      open: transactions.open,
      openResponses: requests.open,
      handlers: createDeviceMessages({ transactions, statuses, events, requests }),
    }),
  );
  const mqtt = parts.add(createMqttAddresses(broker, config));
  if (cluster && takeover) {
    serveHints(cluster, { commands: transactions, webhooks, renamed: renameBroker });
    numbers.onOther(cluster.startOver);
    cluster.handOverBy({ isQuiet: broker.isQuiet, prepare: takeover.orphan });
    parts.add(createOrphanedWills({ ...common, nodes: cluster.nodes, carryOut: broker.carryOutWill }));
  }

  const readiness = createReadiness({ clock });
  readiness.set('service', () => 'is starting');
  readiness.set(
    'database',
    async () => check?.trouble() ?? ((await database.healthy()) ? undefined : 'does not answer'),
  );
  if (cluster) readiness.set('node', () => cluster.nodes.trouble() ?? cluster.heal.trouble());
  readiness.set('files', () => openFileFault(config.dataDir));
  const kept = createKept({ clock });
  const receivers = createReceiverStates({ ...common, kept, urls: applications.settingsOfAll });
  const figures = createFleetFigures({
    ...common,
    kept,
    connected: () =>
      nodes() > 1 && cluster ? kept('connected', cluster.ownership.connectedCount) : broker.connectedCount(),
    receivers: receivers.counts,
  });
  const history = parts.add(
    createFleetHistory({
      ...common,
      kept,
      nodeId: () => cluster?.nodes.id() ?? '',
      leads,
      connectedHere: broker.connectedCount,
      isOn: overrides.keepsHistory ?? true,
    }),
  );
  const ofFleet = { figures, history, vitals: { commitP99: commits.p99, nodes } };
  const feed = createFeed({
    ...common,
    mostStreams: config.feedStreams,
    sources: createFeedSources({
      hasOthers: database.shared,
      fleetDevices: looks.fleet,
      deviceRow,
      overview: looks.overview,
      installations: looks.installations,
      fleet: () => summaryOf(ofFleet),
      receivers: async (applicationId) => (await receivers.watched(applicationId)).map(keyedReceiver),
    }),
  });
  const audit = numbers.writtenTo(createAudit(common));
  const deliveryLog = createDeliveryLog({ ...common, webhooks, findApplication });
  const tenants = { applications, developers, devices, statuses, software, quotas };
  const edge = { ...common, ...tenants, audit, formatTime, failedLoginLimit, feed, shares: cluster?.shares.of };
  const survey = createSurvey({
    ...common,
    due: () => surveyDue(database.aside),
    pending: () => surveyPending(database.aside),
    databaseSize: database.size,
    cluster: () => cluster && { lease: cluster.nodes.left(), healAge: cluster.heal.age() },
    objects: objects.usage,
  });
  const consoleSessions = createConsoleSessions({ ...common, administratorToken: token });
  consoleSessions.onEnd(feed.endSession);
  const consoleParts = {
    files: createReadFiles(),
    timeZone: config.timeZone,
    objectsUrl: () => config.objects.publicUrl ?? objects.url,
  };
  const admin = parts.add(
    servedAt(
      'LAPEL_ADMIN_PORT',
      config.admin,
      createAdminServer({
        ...edge,
        ...looks,
        connections: { perAddress: config.admin.maxConnections, total: config.admin.maxConnections },
        administratorToken: token,
        names: config.admin.names,
        sessions: consoleSessions,
        pages: createConsolePages({ ...consoleParts, role: 'operator' }),
        adminUrl,
        ...ofFleet,
        receivers,
        deliveries: createAllDeliveries(common),
        deliveryLog,
        findDelivery: (deliveryId) => findApplicationOfDelivery(database.aside, deliveryId),
        settings: config.given,
        cancellation: createCancellation({ find: looks.overview.find, cancel: transactions.cancel }),
        connection: createConnectionView({
          database,
          live: broker.connectionOf,
          nodeOf: cluster?.ownership.nodeOf,
        }),
        readiness,
        metricsText: createMetricsText({ ...common, survey, isKept: overrides.keepsMetrics ?? true }),
      }),
    ),
  );
  readiness.set('administration', admin.trouble);

  const legacy = config.legacy && parts.add(createLegacyTokens({ ...config.legacy, ...common, publicUrl }));
  const accessTokens = parts.add(createAccessTokens({ ...common, issuer: publicUrl, ...(legacy && { legacy }) }));
  const api = parts.add(
    servedAt(
      'LAPEL_HTTP_PORT',
      config.http,
      createApiServer({
        ...edge,
        connections: { perAddress: config.http.addressConnections, total: config.http.maxConnections },
        asking,
        // One question of theirs at a time, so that who watches over all of them gets an answer.
        ...createLooks({ ...watched, aside: inTurn(database.aside, asking.whose) }),
        transactions,
        accessTokens,
        deliveryLog,
        docs: createDocs({ contracts, deprecations, publicUrl, mqttUrls: () => Object.values(mqtt.urls) }),
        pages: createConsolePages({ ...consoleParts, role: 'application' }),
        deprecations,
        parseTime: createLocalTimeReader(formatTime),
        rateLimit: config.rateLimit,
        tokenRateLimit: config.tokenRateLimit,
        publicUrl,
      }),
    ),
  );
  readiness.set('api', api.trouble);
  const sweeps = [
    deliverySweep({ keptDays: config.retention.deliveries }),
    transactionSweep({ keptDays: config.retention.transactions, pendingBefore: findPendingTransactions }),
    eventSweep(),
    requestSweep(),
    idempotencySweep(),
    sessionSweep(),
    auditSweep({ keptDays: config.retention.audit }),
    historySweep(),
  ];
  parts.add(createRetention({ ...common, sweeps, sweepObjects: software.sweepObjects, leads }));
  parts.add({
    start: () => readiness.set('service', () => undefined),
    async [Symbol.asyncDispose]() {
      readiness.set('service', () => 'is stopping');
      cluster?.ownership.leave();
    },
  });

  parts.add(feed);

  await parts.start();
  consoleUrls.push(admin.url(), api.url(), publicUrl(), config.consoleUrl ?? admin.url());
  const everything = parts.move();
  return {
    addresses: { http: api.url(), admin: admin.url(), ...mqtt.urls, objects: objects.url },
    adminToken: token,
    metrics,
    /** See createMqttAddresses. */
    reloadTls: mqtt.reloadTls,
    /** True while the device has an MQTT connection. */
    isConnected: broker.isConnected,
    /** Resolves when nothing is left to do until a caller, a device, a receiver or the clock does something. */
    idle: () => parts.idle(commits.count),
    [Symbol.asyncDispose]: () => everything[Symbol.asyncDispose](),
  };
}
