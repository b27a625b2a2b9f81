import type { Deprecations } from '@lapel/schemas/contracts/deprecations';
import type { Config } from '../config.ts';
import type { AlarmSender } from '../core/alarms/alarm-sender.ts';
import { createAccessTokens } from '../core/applications/access-tokens.ts';
import { createLegacyTokens } from '../core/applications/legacy-tokens.ts';
import type { Audit } from '../core/audit/audit.ts';
import { createRefusals } from '../core/audit/refusals.ts';
import { createSecretReads } from '../core/audit/secret-reads.ts';
import type { AuditSender } from '../core/audit/syslog/audit-sender.ts';
import type { Core } from '../core/core.ts';
import type { Encryption } from '../core/encryption/encryption.ts';
import { createPeople } from '../core/people/people.ts';
import { createCancellation } from '../core/transactions/cancellation.ts';
import type { Peers } from '../platform/cluster/peers.ts';
import type { Common, Parts } from '../platform/common.ts';
import type { Entrances } from '../platform/entrance/entrance.ts';
import type { Entrance } from '../platform/entrance/web-server.ts';
import type { AdministratorToken } from '../runtime/administrator-token.ts';
import { createLocalTime, createLocalTimeReader } from '../runtime/clock.ts';
import type { Asking } from '../runtime/current-caller.ts';
import { diskOf } from '../runtime/data-folder.ts';
import { servedAt } from '../runtime/listening.ts';
import type { Readiness } from '../runtime/readiness.ts';
import { deviceRow } from '../views/device-row.ts';
import type { Views } from '../views/views.ts';
import { createAdminServer } from './admin/admin-server.ts';
import { keyedReceiver } from './admin/fleet-deliveries.ts';
import { summaryOf } from './admin/fleet-figures.ts';
import { createIdentify } from './admin/identify.ts';
import { createMetricsServer } from './admin/metrics-server.ts';
import { createMetricsText } from './admin/metrics-text.ts';
import { createConsoleSessions } from './admin/sessions/sessions.ts';
import { createSignIns } from './admin/sign-in/sign-ins.ts';
import { createSurvey } from './admin/survey.ts';
import { createApiServer } from './api/api-server.ts';
import { createDocs } from './docs/docs.ts';
import { createFeed } from './feed/feed.ts';
import { createFeedSources } from './feed/feed-sources.ts';
import { createAdministrationMcp } from './mcp/administration-mcp.ts';
import { createApplicationMcp } from './mcp/application-mcp.ts';
import { createReadFiles } from './pages/files.ts';
import { createConsolePages } from './pages/pages.ts';

interface Given {
  parts: Parts;
  config: Config;
  common: Common;
  peers: Peers;
  core: Core;
  views: Views;
  audit: Audit;
  encryption: Encryption;
  /** Sends the audit log to its receiver; undefined without one. */
  auditSender: AuditSender | undefined;
  alarmSender: AlarmSender | undefined;
  asking: Asking;
  deprecations: Deprecations;
  readiness: Readiness;
  entrances: Entrances;
  administratorToken: AdministratorToken;
  /** Knows the URLs that devices connect to. */
  mqttUrls(): string[];
  /** True to send the text of `/metrics` again for a second after it was written. */
  keepsMetrics: boolean;
}

/**
 * Creates the listeners of the API and of administration, with the feed and the console that both serve, and registers
 * them for the start.
 */
export function createEdges({ parts, config, common, peers, core, views, ...given }: Given) {
  const { audit, readiness, deprecations, entrances } = given;
  const [ofAdmin, ofApi] = [entrances.of('admin'), entrances.of('api')];
  const schemeOf = ({ secured }: Entrance) => (secured ? 'https' : 'http');
  const formatTime = createLocalTime(config.timeZone);
  const publicUrl = (): string => config.publicUrl ?? api.url();
  const { ofFleet, receivers } = views;

  const feed = createFeed({
    ...common,
    mostStreams: config.feedStreams,
    sources: createFeedSources({
      hasOthers: peers.cluster !== undefined,
      fleetDevices: ofFleet.fleet,
      deviceRow,
      overview: ofFleet.overview,
      installations: ofFleet.installations,
      fleet: () => summaryOf(views),
      audit: audit.end,
      rollouts: ofFleet.rolloutViews.live,
      receivers: async (applicationId) => (await receivers.watched(applicationId)).map(keyedReceiver),
    }),
  });
  const console = {
    files: createReadFiles(),
    timeZone: config.timeZone,
    objectsUrl: () => config.objects.publicUrl ?? core.objects.url,
  };
  const both = {
    ...common,
    ...core,
    audit,
    timeZone: config.timeZone,
    formatTime,
    failedLoginLimit: config.failedLoginLimit,
    proxies: entrances.proxies,
    feed,
    shares: peers.shares,
    secretReads: createSecretReads(common),
    refusals: parts.add(createRefusals({ ...common, audit })),
  };

  /** Checks the streams of administration on all nodes, because somebody may have lost a right. */
  const told = (): void => {
    feed.recheckAdministrators();
    peers.bus.broadcast({ kind: 'people', about: '' });
  };
  peers.bus.on('people', (about) => {
    if (about === 'members') feed.recheck();
    else feed.recheckAdministrators();
  });
  peers.bus.onGap(feed.recheckAdministrators);
  const people = createPeople({ ...common, audit, changed: told });
  const identify = createIdentify({ administratorToken: given.administratorToken, people });
  given.administratorToken.onChange(feed.recheckAdministrators);
  const { providers } = config.admin;
  const sessions = createConsoleSessions({
    ...common,
    identify,
    people,
    providers: new Set(providers.map(({ providerId }) => providerId)),
    ended: told,
  });
  const { consoleUrl } = config;
  const signIns = parts.add(createSignIns({ ...common, settings: providers, consoleUrl, people }));
  const survey = createSurvey({
    ...common,
    ...views.surveyed,
    readiness,
    disk: () => diskOf(config.dataDir),
    certificates: entrances.certificates,
    auditWaiting: given.auditSender?.waiting,
  });
  const metricsText = createMetricsText({ ...common, survey, isKept: given.keepsMetrics });
  const namesOfAdmin = { names: config.admin.names, setting: 'LAPEL_ADMIN_NAMES' };
  const ofMetrics =
    config.metrics &&
    parts.add(
      servedAt(
        'LAPEL_METRICS_PORT',
        config.metrics,
        createMetricsServer({
          ...common,
          names: namesOfAdmin,
          readiness,
          signs: views.signs,
          metricsText,
          metricsUrl: (): string => ofMetrics?.url() ?? '',
        }),
      ),
    );
  const legacy = config.legacy && parts.add(createLegacyTokens({ ...config.legacy, ...common, publicUrl }));
  const accessTokens = parts.add(
    createAccessTokens({
      ...common,
      issuer: publicUrl,
      ...(legacy && { legacy }),
      replaced() {
        feed.recheck();
        peers.bus.broadcast({ kind: 'signing', about: '' });
      },
    }),
  );
  const signingChanged = (): void =>
    void accessTokens.keysChangedElsewhere().then(
      () => feed.recheck(),
      () => undefined, // the database is away; the keys are read again within seconds
    );
  peers.bus.on('signing', signingChanged);
  peers.bus.onGap(signingChanged);
  const docs = createDocs({
    apiRelease: deprecations.apiRelease,
    timeZone: config.timeZone,
    publicUrl,
    mqttUrls: () => config.entrance.mqttUrls ?? given.mqttUrls(),
  });
  const ofDocuments = { docs, docsUrl: () => `${publicUrl()}/docs`, timeZone: config.timeZone };
  const admin = parts.add(
    servedAt(
      'LAPEL_ADMIN_PORT',
      { ...config.admin, scheme: schemeOf(ofAdmin) },
      createAdminServer({
        ...both,
        ...views,
        ...ofFleet,
        entrance: ofAdmin,
        connections: { perAddress: config.admin.maxConnections, total: config.admin.maxConnections },
        identify,
        people,
        names: namesOfAdmin,
        sessions,
        signIns,
        pages: createConsolePages({
          ...console,
          role: 'operator',
          providers: signIns.shown,
          docsUrl: () => `${publicUrl()}/docs`,
        }),
        adminUrl: (): string => admin.url(),
        settings: config.given,
        encryption: given.encryption,
        alarmSender: given.alarmSender,
        accessTokens,
        cancellation: createCancellation({ find: ofFleet.overview.find, cancel: core.transactions.cancel }),
        readiness,
        metricsText,
        mcp: config.assistants.admin
          ? createAdministrationMcp({
              ...common,
              ...ofDocuments,
              consoleUrl: (): string => consoleUrl ?? `${admin.url()}/console`,
            })
          : undefined,
      }),
    ),
  );
  readiness.set('administration', admin.trouble);

  const api = parts.add(
    servedAt(
      'LAPEL_HTTP_PORT',
      { ...config.http, scheme: schemeOf(ofApi) },
      createApiServer({
        ...both,
        ...views.ofApplications,
        entrance: ofApi,
        names: { names: config.http.names, setting: 'LAPEL_HTTP_NAMES' },
        clientCertificates: entrances.clientCertificates,
        connections: { perAddress: config.http.addressConnections, total: config.http.maxConnections },
        asking: given.asking,
        accessTokens,
        mcp: config.assistants.api
          ? createApplicationMcp({ ...common, ...ofDocuments, consoleUrl: () => `${publicUrl()}/console` })
          : undefined,
        docs,
        pages: createConsolePages({ ...console, role: 'application', providers: [] }),
        deprecations,
        parseTime: createLocalTimeReader(formatTime),
        rateLimit: config.rateLimit,
        tokenRateLimit: config.tokenRateLimit,
        enrolmentRateLimit: config.enrolmentRateLimit,
        publicUrl,
      }),
    ),
  );
  readiness.set('api', api.trouble);

  const leave = async (): Promise<void> => void (await Promise.all([api.leave(), admin.leave()]));
  return { feed, admin, api, metrics: ofMetrics, publicUrl, leave };
}
