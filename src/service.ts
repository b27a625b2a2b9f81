import type { Config } from './config.ts';
import { createAccessTokens } from './core/applications/access-tokens.ts';
import { createApplications } from './core/applications/applications.ts';
import { createDevelopers } from './core/applications/developers.ts';
import { createLegacyTokens } from './core/applications/legacy-tokens.ts';
import { createAudit } from './core/audit/audit.ts';
import { auditSweep } from './core/audit/audit-sweep.ts';
import { createRaisedNumbers } from './core/audit/raised-numbers.ts';
import { hasActivatedDevice, hasDevices } from './core/devices/device-repository.ts';
import { createDevices } from './core/devices/devices.ts';
import { createStatuses } from './core/devices/statuses.ts';
import { createAnswering } from './core/events/answering.ts';
import { createDeviceEvents } from './core/events/device-events.ts';
import { createEventBytes } from './core/events/event-bytes.ts';
import { deleteEvents } from './core/events/event-repository.ts';
import { eventSweep } from './core/events/event-sweep.ts';
import { deleteRequests } from './core/requests/request-repository.ts';
import { requestSweep } from './core/requests/request-sweep.ts';
import { createRetention } from './core/retention/retention.ts';
import { createOrphanedWills } from './core/sessions/orphaned-wills.ts';
import { createPresence } from './core/sessions/presence.ts';
import { renameBroker } from './core/sessions/session-repository.ts';
import { createSessions } from './core/sessions/sessions.ts';
import { createTakeover } from './core/sessions/takeover.ts';
import { aboutObjects } from './core/software/owner.ts';
import { hasPackages } from './core/software/package-repository.ts';
import { createQuotas } from './core/software/quotas.ts';
import { createSoftware } from './core/software/software.ts';
import { createCancellation } from './core/transactions/cancellation.ts';
import { idempotencySweep } from './core/transactions/idempotency-sweep.ts';
import { surveyDue } from './core/transactions/transaction-repository.ts';
import { transactionSweep } from './core/transactions/transaction-sweep.ts';
import { createTransactions } from './core/transactions/transactions.ts';
import { createDeliveryLog } from './core/webhooks/delivery-log.ts';
import { surveyPending } from './core/webhooks/delivery-repository.ts';
import { deliverySweep } from './core/webhooks/delivery-sweep.ts';
import { findPendingTransactions } from './core/webhooks/delivery-sweep-repository.ts';
import { createSettingUrlRule } from './core/webhooks/webhook-url.ts';
import { createWebhooks } from './core/webhooks/webhooks.ts';
import { createAdminServer } from './edge/admin/admin-server.ts';
import { keyedReceiver } from './edge/admin/fleet-deliveries.ts';
import { summaryOf } from './edge/admin/fleet-figures.ts';
import { createMetricsText } from './edge/admin/metrics-text.ts';
import { sessionSweep } from './edge/admin/sessions/session-sweep.ts';
import { createConsoleSessions } from './edge/admin/sessions/sessions.ts';
import { createSurvey } from './edge/admin/survey.ts';
import { createApiServer } from './edge/api/api-server.ts';
import { createDocs } from './edge/docs/docs.ts';
import { createFeed } from './edge/feed/feed.ts';
import { createFeedSources } from './edge/feed/feed-sources.ts';
import { createMqttAddresses } from './edge/mqtt/addresses.ts';
import { createBroker } from './edge/mqtt/broker.ts';
import { createDeviceMessages } from './edge/mqtt/device-messages.ts';
import { createRevoke } from './edge/mqtt/revoke.ts';
import { createReadFiles } from './edge/pages/files.ts';
import { createConsolePages } from './edge/pages/pages.ts';
import { commitMetrics, createMetrics } from './metrics.ts';
import { type ClusterOverrides, openCluster, SINGLE } from './platform/cluster/open-cluster.ts';
import { serveHints } from './platform/cluster/serve-hints.ts';
import { loadContracts } from './platform/contracts/contracts.ts';
import { inTurn } from './platform/database/in-turn.ts';
import { openDatabase } from './platform/database/open-database.ts';
import { createDatabaseCheck } from './platform/database/sqlite/database-check.ts';
import { openObjects } from './platform/objects/open-objects.ts';
import { type Clock, createLocalTime, createLocalTimeReader, systemClock } from './runtime/clock.ts';
import { createAsking } from './runtime/current-caller.ts';
import { adminToken, makeFolder, openFileFault } from './runtime/data-folder.ts';
import { createDeprecations } from './runtime/deprecations.ts';
import { createOwners } from './runtime/device-owners.ts';
import { type Ids, randomIds } from './runtime/ids.ts';
import { servedAt } from './runtime/listening.ts';
import { databaseWords, type Log } from './runtime/log.ts';
import { createLogLimit } from './runtime/log-limit.ts';
import { watchOpenFiles } from './runtime/open-files.ts';
import { createParts } from './runtime/parts.ts';
import { createReadiness } from './runtime/readiness.ts';
import { createKept } from './runtime/remembered.ts';
import { Watch } from './runtime/watch.ts';
import { createConnectionView } from './views/connection.ts';
import { createAllDeliveries } from './views/deliveries.ts';
import { findApplicationOfDelivery } from './views/delivery-repository.ts';
import { deviceRow } from './views/device-row.ts';
import { createFleetFigures } from './views/figures.ts';
import { createFleetHistory } from './views/history.ts';
import { historySweep } from './views/history-sweep.ts';
import { createReceiverStates } from './views/receivers.ts';
import { createSoftwareOverview } from './views/software.ts';
import { createFleetViews } from './views/views.ts';

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
  const token = adminToken({ token: config.admin.token, folder: config.dataDir }, ids);
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
  const fleetViews = createFleetViews({ ...watched, aside: database.aside });
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
      fleetDevices: fleetViews.fleet,
      deviceRow,
      overview: fleetViews.overview,
      installations: fleetViews.installations,
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
        ...fleetViews,
        connections: { perAddress: config.admin.maxConnections, total: config.admin.maxConnections },
        administratorToken: token,
        names: config.admin.names,
        sessions: consoleSessions,
        pages: createConsolePages({ ...consoleParts, role: 'operator' }),
        adminUrl,
        ...ofFleet,
        softwareOverview: createSoftwareOverview({ ...common, objects: objects.store, ...software }),
        receivers,
        deliveries: createAllDeliveries(common),
        deliveryLog,
        findDelivery: (deliveryId) => findApplicationOfDelivery(database.aside, deliveryId),
        settings: config.given,
        cancellation: createCancellation({ find: fleetViews.overview.find, cancel: transactions.cancel }),
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
        ...createFleetViews({ ...watched, aside: inTurn(database.aside, asking.whose) }),
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
