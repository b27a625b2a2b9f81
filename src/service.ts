import { createAdminServer } from './admin/admin-server.ts';
import { createSurvey } from './admin/survey.ts';
import { createApiServer } from './api/api-server.ts';
import { createAccessTokens } from './applications/access-tokens.ts';
import { createApplications } from './applications/applications.ts';
import { createDevelopers } from './applications/developers.ts';
import { createLegacyTokens } from './applications/legacy-tokens.ts';
import { createBroker } from './broker/broker.ts';
import { createDeviceMessages } from './broker/device-messages.ts';
import { readTlsFiles } from './broker/tls-files.ts';
import { type Clock, createLocalTime, createLocalTimeReader, systemClock } from './clock.ts';
import type { Config } from './config.ts';
import { loadContracts } from './contracts/contracts.ts';
import { adminToken, makeFolder, openFileFault } from './data-folder.ts';
import { createDatabaseCheck } from './database/database-check.ts';
import { openDatabase } from './database/open-database.ts';
import { createDeprecations } from './deprecations.ts';
import { hasActivatedDevice } from './devices/device-repository.ts';
import { createDevices } from './devices/devices.ts';
import { createStatuses } from './devices/statuses.ts';
import { createDocs } from './docs/docs.ts';
import { createDeviceEvents } from './events/device-events.ts';
import { createEventBytes } from './events/event-bytes.ts';
import { deleteEvents } from './events/event-repository.ts';
import { createUploadUrls } from './events/upload-urls.ts';
import { type Ids, randomIds } from './ids.ts';
import { listening, urlHost } from './listening.ts';
import type { Log } from './log.ts';
import { createLogLimit } from './log-limit.ts';
import { createMetrics } from './metrics.ts';
import { createEmbeddedStore } from './objects/embedded-store.ts';
import { createObjectStore } from './objects/object-store.ts';
import { watchOpenFiles } from './open-files.ts';
import { createReadiness } from './readiness.ts';
import { createPresence } from './sessions/presence.ts';
import { createSessions } from './sessions/sessions.ts';
import { ownerOfObject } from './software/owner.ts';
import { createSoftware } from './software/software.ts';
import { surveyDue } from './transactions/transaction-repository.ts';
import { createTransactions } from './transactions/transactions.ts';
import { createCustomerRequests } from './webhooks/customer-requests.ts';
import { createDeliveryLog } from './webhooks/delivery-log.ts';
import { surveyPending } from './webhooks/delivery-repository.ts';
import { createSettingUrlRule } from './webhooks/webhook-url.ts';
import { createWebhooks } from './webhooks/webhooks.ts';

interface Overrides {
  log: Log;
  clock?: Clock;
  ids?: Ids;
}

export type Service = Awaited<ReturnType<typeof createService>>;

/**
 * Builds, wires and starts the whole service. Parts are started in order and stopped in reverse: first the edges stop
 * taking work and finish what they have, then the workers, then the database. Throws DATA_FOLDER_IN_USE and
 * SETTING_INVALID; whatever had been started is stopped then.
 */
export async function createService(config: Config, { log, clock = systemClock, ids = randomIds }: Overrides) {
  await using stack = new AsyncDisposableStack();
  const metrics = createMetrics();
  const formatTime = createLocalTime(config.timeZone);
  const deprecations = createDeprecations(config.apiRelease);
  const { allowHttpWebhooks: allowHttp, webhookAllowPrivate: allowPrivate } = config;
  const urlFault = createSettingUrlRule({ allowHttp, allowPrivate });
  const contracts = loadContracts({ urlFault, serves: deprecations.serves });
  makeFolder(config.dataDir);
  const logLimit = createLogLimit({ clock });
  stack.defer(
    watchOpenFiles({
      clock,
      onFull(err) {
        metrics.filesExhausted.inc();
        const leftOut = logLimit('files');
        if (leftOut !== undefined)
          log.error({ err, leftOut }, 'no more files can be opened: connections are closed unheard');
      },
    }),
  );

  let commits = 0;
  const database = openDatabase({
    folder: config.dataDir,
    nowMicros: clock.now(),
    onCommit({ seconds, committed, rolledBack }) {
      commits += 1;
      metrics.commitSeconds.observe(seconds);
      metrics.commitUnits.inc({ outcome: 'committed' }, committed);
      if (rolledBack > 0) metrics.commitUnits.inc({ outcome: 'rolled_back' }, rolledBack);
    },
    onEffectError: (err) => log.error({ err }, 'something after a commit failed'),
  });
  stack.defer(() => database.close());
  const check = stack.use(createDatabaseCheck({ sql: database.aside, clock, log, metrics }));
  const token = adminToken(config, ids);

  const developers = createDevelopers({ database, clock, ids });
  const applications = createApplications({
    database,
    clock,
    ids,
    urlFault,
    isInUse: hasActivatedDevice,
  });
  const webhooks = stack.use(
    createWebhooks({
      database,
      clock,
      ids,
      log,
      metrics,
      endpointOf: applications.endpointOf,
      allowPrivate,
    }),
  );
  const { endpoint: s3Endpoint, region, bucket } = config.objects;
  const embedded = s3Endpoint
    ? undefined
    : stack.use(
        createEmbeddedStore({
          folder: config.dataDir,
          region,
          bucket,
          clock,
          ids,
          log,
          metrics,
          limits: { connections: config.objects.maxConnections },
          ownerOf: (key) => ownerOfObject(database.read, key),
        }),
      );
  let objectsUrl = s3Endpoint ?? '';
  let ownObjectsUrl = objectsUrl;
  if (embedded) {
    const { host, port } = config.objects;
    const bound = await listening('LAPEL_OBJECTS_PORT', host, port, () => embedded.listen(host, port));
    objectsUrl = `http://${urlHost(host)}:${bound.port}`;
    ownObjectsUrl = `http://127.0.0.1:${(await embedded.listenOwn()).port}`;
  }
  const objects = stack.use(
    createObjectStore({
      endpoint: ownObjectsUrl,
      publicEndpoint: config.objects.publicUrl ?? objectsUrl,
      region,
      bucket,
      ...(embedded && { credentials: embedded.credentials, etagsAreSha256: true }),
      clock,
    }),
  );
  const software = createSoftware({ database, clock, ids, log, objects, reservedPrefix: config.reservedPackagePrefix });
  const transactions = stack.use(
    createTransactions({
      database,
      clock,
      ids,
      log,
      metrics,
      recordEvent: webhooks.record,
      findApplication: applications.findIn,
      installs: software.installs,
    }),
  );
  const sessions = createSessions({ database, clock });
  const presence = stack.use(createPresence({ database, clock, log }));
  const devices = createDevices({
    database,
    clock,
    ids,
    requireDeveloper: developers.find,
    disconnect: (deviceId, will) => broker.disconnect(deviceId, will),
    forgetting: [sessions.remove, presence.remove, deleteEvents],
    endTransactions: transactions.endAll,
  });
  const isConnected = (deviceId: string): boolean => broker.isConnected(deviceId);
  const statuses = createStatuses({ database, clock, presence, isConnected });
  const findApplication = applications.findIn;
  const events = createDeviceEvents({
    database,
    clock,
    metrics,
    deprecations,
    findApplication,
    record: webhooks.record,
    bytes: createEventBytes({
      clock,
      metrics,
      deviceMebibytes: config.eventMebibytes.device,
      applicationMebibytes: config.eventMebibytes.application,
    }),
  });
  const uploads = stack.use(
    createUploadUrls({
      contracts,
      database,
      clock,
      ids,
      log,
      metrics,
      requests: createCustomerRequests({ clock, allowPrivate }),
      findApplication,
      raise: events.raise,
      allowHttp,
    }),
  );
  const broker = stack.use(
    await createBroker({
      sessions,
      clock,
      ids,
      log,
      metrics,
      authenticate: devices.authenticate,
      open: transactions.open,
      presence,
      maxConnections: config.mqtt.maxConnections,
      addressLogins: config.mqtt.addressLogins,
      messageRate: config.mqtt.messageRate,
      contracts,
      handlers: createDeviceMessages({ contracts, metrics, transactions, statuses, events, uploads }),
    }),
  );

  const readiness = createReadiness({ clock });
  readiness.set('service', () => 'is starting');
  readiness.set(
    'database',
    async () => check.trouble() ?? ((await database.healthy()) ? undefined : 'does not answer'),
  );
  readiness.set('files', () => openFileFault(config.dataDir));
  const edge = {
    applications,
    developers,
    devices,
    statuses,
    software,
    contracts,
    clock,
    ids,
    log,
    metrics,
    formatTime,
    failedLoginLimit: config.failedLoginLimit,
  };
  const admin = createAdminServer({
    ...edge,
    connections: { perAddress: config.admin.maxConnections, total: config.admin.maxConnections },
    administratorToken: token,
    adminUrl: () => adminUrl,
    readiness,
    survey: createSurvey({
      clock,
      log,
      metrics,
      due: () => surveyDue(database.aside),
      pending: () => surveyPending(database.aside),
      databaseSize: database.size,
      objects: async () => embedded?.usage(),
    }),
  });
  readiness.set('administration', admin.trouble);
  stack.defer(() => admin.drain());
  const { port: adminPort } = await listening('LAPEL_ADMIN_PORT', config.admin.host, config.admin.port, () =>
    admin.listen(config.admin.host, config.admin.port),
  );
  const adminUrl = `http://${urlHost(config.admin.host)}:${adminPort}`;

  const legacy =
    config.legacy &&
    stack.use(createLegacyTokens({ ...config.legacy, clock, log, metrics, publicUrl: () => publicUrl }));
  const accessTokens = stack.use(
    createAccessTokens({ database, clock, ids, log, issuer: () => publicUrl, ...(legacy && { legacy }) }),
  );
  await accessTokens.start();
  const api = createApiServer({
    ...edge,
    connections: { perAddress: config.http.addressConnections, total: config.http.maxConnections },
    transactions,
    accessTokens,
    deliveryLog: createDeliveryLog({ database, clock, webhooks, findApplication: applications.findIn }),
    docs: createDocs({ contracts, deprecations, publicUrl: () => publicUrl, mqttUrls: () => Object.values(mqttUrls) }),
    deprecations,
    parseTime: createLocalTimeReader(formatTime),
    rateLimit: config.rateLimit,
    tokenRateLimit: config.tokenRateLimit,
    publicUrl: () => publicUrl,
  });
  readiness.set('api', api.trouble);
  stack.defer(() => api.drain());
  const { port: httpPort } = await listening('LAPEL_HTTP_PORT', config.http.host, config.http.port, () =>
    api.listen(config.http.host, config.http.port),
  );
  const httpUrl = `http://${urlHost(config.http.host)}:${httpPort}`;
  const publicUrl = config.publicUrl ?? httpUrl;

  const mqttPort = await listening('LAPEL_MQTT_PORT', config.mqtt.host, config.mqtt.port, () =>
    broker.listenTcp(config.mqtt.host, config.mqtt.port),
  );
  const mqttUrls: { mqtt: string; mqtts?: string; mqttWs?: string } = {
    mqtt: `mqtt://${urlHost(config.mqtt.host)}:${mqttPort}`,
  };
  const files = config.tls ? readTlsFiles(config.tls) : undefined;
  if (config.mqtts && files) {
    const { host, port } = config.mqtts;
    const bound = await listening('LAPEL_MQTTS_PORT', host, port, () => broker.listenTls(host, port, files));
    mqttUrls.mqtts = `mqtts://${urlHost(host)}:${bound}`;
  }
  if (config.mqttWs) {
    const { host, port } = config.mqttWs;
    const bound = await listening('LAPEL_MQTT_WS_PORT', host, port, () => broker.listenWebSocket(host, port, files));
    mqttUrls.mqttWs = `${files ? 'wss' : 'ws'}://${urlHost(host)}:${bound}`;
  }
  await webhooks.start();
  readiness.set('service', () => undefined);
  stack.defer(() => readiness.set('service', () => 'is stopping'));

  const everything = stack.move();
  return {
    addresses: {
      http: httpUrl,
      admin: adminUrl,
      ...mqttUrls,
      objects: objectsUrl,
    },
    adminToken: token,
    metrics,
    /**
     * Reads the files of TLS again: new connections are shown and judged by them, and who is connected by a certificate
     * that has been revoked is cut off. Throws SETTING_INVALID, and then all stays as it was. False without TLS.
     */
    reloadTls(): boolean {
      if (!config.tls) return false;
      broker.reloadTls(readTlsFiles(config.tls));
      return true;
    },
    /** True while the device has an MQTT connection. */
    isConnected: broker.isConnected,
    /** Resolves when nothing is left to do until a caller, a device, a receiver or the clock does something. */
    async idle(): Promise<void> {
      let before: number;
      do {
        before = commits;
        await api.idle();
        await admin.idle();
        await broker.idle();
        await uploads.idle();
        await transactions.idle();
        await software.inspection.idle();
        await software.digests.idle();
        await webhooks.idle();
        await embedded?.idle();
        await check.idle();
        await database.idle();
      } while (commits !== before);
    },
    [Symbol.asyncDispose]: () => everything.disposeAsync(),
  };
}
