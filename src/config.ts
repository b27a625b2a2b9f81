import { DomainError } from './errors.ts';
import { shareOpenFiles } from './runtime/open-files.ts';
import { type Kind, LOOPBACK, problemOf } from './runtime/setting-values.ts';

interface Setting {
  /** The name in the environment; on the command line it is `--kebab-case` without the prefix. */
  name: `LAPEL_${string}`;
  kind: Kind;
  /** Null: worked out at start, see the description. */
  fallback: string | null;
  description: string;
  /** Its value is shown to nobody. */
  secret?: true;
}

/** Every setting of the service; `lapel serve --help` and docs/reference.md print this. */
// biome-ignore format: a table is read by its rows
export const SETTINGS = [
  { name: 'LAPEL_DATA_DIR', kind: 'text', fallback: './data', description: 'Folder of the database, the administrator token, the embedded object store with its key, and the lock' },
  { name: 'LAPEL_DATABASE_URL', kind: 'database', fallback: null, description: 'PostgreSQL instead of the embedded SQLite: `postgres://USER:PASSWORD@HOST:PORT/DATABASE`, with `?sslmode=verify-full` and the like; the database must exist, its tables are made. Of several hosts (`HOST:PORT,HOST:PORT`) it is the one that can be written' },
  { name: 'LAPEL_DATABASE_WAIT', kind: 'number', fallback: '30', description: 'Seconds that a start waits for a PostgreSQL that does not answer, or cannot be written yet; 0 does not wait' },
  { name: 'LAPEL_HOST', kind: 'text', fallback: '127.0.0.1', description: 'Address of the REST API and the token endpoint' },
  { name: 'LAPEL_ALLOW_PLAIN_HTTP', kind: 'flag', fallback: 'false', description: 'Allows the REST API, administration and the embedded object store on addresses that are not loopback: they have no TLS of their own, so a proxy before them has to' },
  { name: 'LAPEL_HTTP_PORT', kind: 'port', fallback: '8080', description: 'Its port; 0 picks a free one' },
  { name: 'LAPEL_HTTP_MAX_CONNECTIONS', kind: 'count', fallback: null, description: 'Its connections at most; by default an eighth of the limit of open files, 1024 at most' },
  { name: 'LAPEL_HTTP_ADDRESS_CONNECTIONS', kind: 'count', fallback: null, description: 'Of these for one address; by default half of them. Behind a proxy all have its address: as many as there are' },
  { name: 'LAPEL_ADMIN_HOST', kind: 'text', fallback: '127.0.0.1', description: 'Address of administration, `/metrics`, `/healthz` and `/readyz`' },
  { name: 'LAPEL_ADMIN_PORT', kind: 'port', fallback: '8081', description: 'Its port; 0 picks a free one' },
  { name: 'LAPEL_ADMIN_NAMES', kind: 'hosts', fallback: null, description: 'Names by which administration is called, with commas between them, besides any address, `localhost` and those of `LAPEL_CONSOLE_URL` and `LAPEL_PUBLIC_URL`; requests by another name are refused, but those to `/healthz` and `/readyz`' },
  { name: 'LAPEL_ADMIN_TOKEN', kind: 'text', fallback: null, secret: true, description: 'Administrator token, 32 characters or more; by default made at first start and kept in `admin-token` in the data folder' },
  { name: 'LAPEL_MQTT_HOST', kind: 'text', fallback: '127.0.0.1', description: 'Address of plain MQTT' },
  { name: 'LAPEL_MQTT_PORT', kind: 'port', fallback: '1883', description: 'Its port; 0 picks a free one' },
  { name: 'LAPEL_ALLOW_PLAIN_MQTT', kind: 'flag', fallback: 'false', description: 'Allows plain MQTT on an address that is not loopback' },
  { name: 'LAPEL_MQTTS_HOST', kind: 'text', fallback: '127.0.0.1', description: 'Address of MQTT over TLS' },
  { name: 'LAPEL_MQTTS_PORT', kind: 'port', fallback: null, description: 'Its port, 8883 by convention; 0 picks a free one; off by default' },
  { name: 'LAPEL_TLS_CERT', kind: 'text', fallback: null, description: 'File of the certificate (and its chain) for MQTT over TLS; PEM' },
  { name: 'LAPEL_TLS_KEY', kind: 'text', fallback: null, description: 'File of its key; PEM' },
  { name: 'LAPEL_MQTT_CLIENT_CA', kind: 'text', fallback: null, description: 'File of the CA whose client certificates are good instead of a password, with the deviceId as common name; PEM' },
  { name: 'LAPEL_MQTT_CLIENT_CRL', kind: 'text', fallback: null, description: 'File of the certificates that this CA has revoked, with a CRL for each CA of a chain; PEM. SIGHUP reads all files of TLS again' },
  { name: 'LAPEL_MQTT_WS_HOST', kind: 'text', fallback: '127.0.0.1', description: 'Address of MQTT over WebSocket; over TLS when there is a certificate' },
  { name: 'LAPEL_MQTT_WS_PORT', kind: 'port', fallback: null, description: 'Its port, 8083 by convention; 0 picks a free one; off by default' },
  { name: 'LAPEL_MQTT_MAX_CONNECTIONS', kind: 'count', fallback: null, description: 'Connections of devices at most; by default what the limit of open files leaves' },
  { name: 'LAPEL_MQTT_ADDRESS_LOGINS', kind: 'number', fallback: null, description: 'Connections of one address that have not logged in, at most; by default 1000, and no limit for loopback, where a proxy may be; 0 is no limit' },
  { name: 'LAPEL_MQTT_LOGIN_SECONDS', kind: 'count', fallback: '10', description: 'Seconds that a connection of a device has for its CONNECT, from its first moment or the end of its TLS handshake; time in which the service itself is late does not count' },
  { name: 'LAPEL_DEVICE_RATE_LIMIT', kind: 'number', fallback: '100', description: 'Messages per second of one device (status, events, requests, SUBSCRIBE and UNSUBSCRIBE, and as many acks besides those that answer a command; one counts once, and once more for each 16 KiB or 64 filters), with a burst of twice that; above it is disconnected and sends the rest later; 0 is no limit' },
  { name: 'LAPEL_HAND_OVER_RATE', kind: 'number', fallback: '10', description: 'Devices per second that a node hands over, by closing their connections, while it has a tenth more than its share of several nodes; 0 is none' },
  { name: 'LAPEL_DEVICE_EVENT_MIB', kind: 'number', fallback: '16', description: 'MiB of events of one device that are stored at once, and as many more a day; above it events are refused on its errors topic; 0 is no bound' },
  { name: 'LAPEL_APPLICATION_EVENT_MIB', kind: 'number', fallback: '4096', description: 'The same for all devices of one application together' },
  { name: 'LAPEL_PUBLIC_URL', kind: 'url', fallback: null, description: '`{base_url}`: Location headers and the issuer of tokens; by default `http://HOST:PORT`' },
  { name: 'LAPEL_CONSOLE_URL', kind: 'url', fallback: null, description: 'Where the console of administration is reached behind a proxy: the embedded object store lets its pages upload; by default only `http://HOST:PORT` of administration' },
  { name: 'LAPEL_OBJECTS_HOST', kind: 'text', fallback: '127.0.0.1', description: 'Address of the embedded object store, which developers upload to and devices download from' },
  { name: 'LAPEL_OBJECTS_PORT', kind: 'port', fallback: '8082', description: 'Its port; 0 picks a free one' },
  { name: 'LAPEL_OBJECTS_URL', kind: 'url', fallback: null, description: 'How upload and download URLs begin when developers and devices reach the object store by another address than the service; without a path' },
  { name: 'LAPEL_S3_ENDPOINT', kind: 'url', fallback: null, description: 'An S3-compatible store instead of the embedded one; credentials come from the AWS credential chain' },
  { name: 'LAPEL_S3_REGION', kind: 'text', fallback: 'us-east-1', description: 'Region of the object store' },
  { name: 'LAPEL_S3_BUCKET', kind: 'text', fallback: 'lapel', description: 'Bucket of the object store; it must exist' },
  { name: 'LAPEL_RESERVED_PACKAGE_PREFIX', kind: 'text', fallback: 'com.lapel.', description: '`{reserved_package_prefix}`: packages that developers cannot register' },
  { name: 'LAPEL_DEVELOPER_PACKAGES', kind: 'number', fallback: '1000', description: 'Packages that a developer may have; 0 is no limit' },
  { name: 'LAPEL_DEVELOPER_VERSIONS', kind: 'number', fallback: '10000', description: 'Versions of all of them together; 0 is no limit' },
  { name: 'LAPEL_DEVELOPER_STORED_GIB', kind: 'number', fallback: '100', description: 'GiB of binaries of a developer, those included that an upload URL was given out for; 0 is no limit' },
  { name: 'LAPEL_API_RELEASE', kind: 'release', fallback: '2026-11', description: 'Release of the interface to serve, `YYYY-MM`: what is deprecated is there until the release that removes it' },
  { name: 'LAPEL_RATE_LIMIT', kind: 'number', fallback: '200', description: 'Requests per second of one application, with a burst of twice that; 0 is no limit' },
  { name: 'LAPEL_FEED_STREAMS', kind: 'count', fallback: '256', description: 'Streams of the feed at a time, of the API and of administration each; where there is no room, the oldest of who has most is ended, by developer, then by application' },
  { name: 'LAPEL_TOKEN_RATE_LIMIT', kind: 'number', fallback: '20', description: 'The same for requests to the token endpoint' },
  { name: 'LAPEL_FAILED_LOGIN_LIMIT', kind: 'number', fallback: '50', description: 'Requests with wrong credentials per second of one address, and in the name of one application, with a burst of twice that; further ones wait a second for a 429, right credentials are never refused; 0 is no limit' },
  { name: 'LAPEL_LEGACY_ISSUER', kind: 'text', fallback: null, description: 'Legacy identity provider whose access tokens are accepted too: the `iss` of its tokens' },
  { name: 'LAPEL_LEGACY_JWKS_URL', kind: 'endpoint', fallback: null, description: 'Where it publishes its keys (RFC 7517); needed with the issuer' },
  { name: 'LAPEL_LEGACY_SCOPE_BASE', kind: 'text', fallback: null, description: '`{legacy_scope_base}`: its scopes are `BASE/applications.r` and so on; needed with the issuer' },
  { name: 'LAPEL_LEGACY_AUDIENCE', kind: 'text', fallback: null, description: 'What `aud` of its tokens must contain; by default a token may have none, or one that names `LAPEL_PUBLIC_URL`' },
  { name: 'LAPEL_TIME_ZONE', kind: 'timeZone', fallback: null, description: 'Time zone of the local date-times in REST bodies; by default the machine’s' },
  { name: 'LAPEL_ALLOW_HTTP_WEBHOOKS', kind: 'flag', fallback: 'false', description: 'Allows `http` webhook URLs on hosts that are not loopback' },
  { name: 'LAPEL_WEBHOOK_ALLOW_PRIVATE', kind: 'flag', fallback: 'false', description: 'Allows webhook targets that resolve to loopback, private or link-local addresses; those where clouds have their metadata are never allowed' },
  { name: 'LAPEL_RETENTION_DAYS', kind: 'number', fallback: '90', description: 'Days after which a finished transaction is removed, unless its webhook or its cancel is still to be delivered; 0 keeps them for ever' },
  { name: 'LAPEL_DELIVERY_RETENTION_DAYS', kind: 'number', fallback: '30', description: 'The same for webhook deliveries that have their outcome: until then they are listed and can be sent again' },
  { name: 'LAPEL_AUDIT_RETENTION_DAYS', kind: 'number', fallback: '400', description: 'The same for entries of the audit log' },
  { name: 'LAPEL_LOG_LEVEL', kind: 'level', fallback: 'info', description: '`fatal`, `error`, `warn`, `info`, `debug`, `trace` or `silent`' },
] as const satisfies readonly Setting[];

type SettingName = (typeof SETTINGS)[number]['name'];

/** A setting as text. */
export interface GivenSetting {
  name: SettingName;
  /** Given or by default; null: neither. */
  value: string | null;
  /** Given. */
  isSet: boolean;
}

/** The typed and cross-checked settings. */
export interface Config {
  dataDir: string;
  /** Of PostgreSQL, with its password; null: SQLite in the data folder. */
  databaseUrl: string | null;
  databaseWaitSeconds: number;
  http: { host: string; port: number; maxConnections: number; addressConnections: number };
  admin: {
    host: string;
    port: number;
    token: string | null;
    maxConnections: number;
    /** What it is called, besides by its address. */
    names: readonly string[];
  };
  mqtt: {
    host: string;
    port: number;
    maxConnections: number;
    /** Null: as the broker thinks fit. */
    addressLogins: number | null;
    loginSeconds: number;
    messageRate: number;
  };
  /** Null: off. */
  mqtts: { host: string; port: number } | null;
  mqttWs: { host: string; port: number } | null;
  /** Files; there where `mqtts` is. */
  tls: { cert: string; key: string; clientCa: string | null; clientCrl: string | null } | null;
  /** MiB of events at once and a day; 0 is no bound. */
  eventMebibytes: { device: number; application: number };
  publicUrl: string | null;
  consoleUrl: string | null;
  objects: {
    host: string;
    port: number;
    /** Of the embedded store. */
    maxConnections: number;
    publicUrl: string | null;
    /** Null: the embedded store. */
    endpoint: string | null;
    region: string;
    bucket: string;
  };
  /** Null: no legacy tokens. */
  legacy: { issuer: string; jwksUrl: string; scopeBase: string; audience: string | null } | null;
  reservedPackagePrefix: string;
  /** Of each developer; 0 is no limit. */
  quotas: { packages: number; versions: number; storedBytes: number };
  apiRelease: string;
  /** Requests per second and application; 0 is no limit. */
  rateLimit: number;
  tokenRateLimit: number;
  failedLoginLimit: number;
  feedStreams: number;
  timeZone: string;
  /** Devices that a node hands over in a second at most; 0 is none. */
  handOverRate: number;
  /** Days; 0 is for ever. */
  retention: { transactions: number; deliveries: number; audit: number };
  allowHttpWebhooks: boolean;
  webhookAllowPrivate: boolean;
  logLevel: string;
  /** All of them as they were given. */
  given: readonly GivenSetting[];
}

/** Of the commands that are clients, which may run in the same shell. */
export const CLIENTS_OWN = [
  'LAPEL_APPLICATION',
  'LAPEL_APPLICATION_SECRET',
  'LAPEL_URL',
  'LAPEL_ADMIN_URL',
  'LAPEL_PROFILE',
];
const ADMIN_TOKEN_LENGTH = 32;

const invalid = (setting: string, problem: string): DomainError =>
  new DomainError('SETTING_INVALID', { values: { setting, problem } });

/** The settings of the legacy issuer go together, or not at all. */
function readLegacy(optional: (name: SettingName) => string | null, publicUrl: string): Config['legacy'] {
  const issuer = optional('LAPEL_LEGACY_ISSUER');
  const jwksUrl = optional('LAPEL_LEGACY_JWKS_URL');
  const scopeBase = optional('LAPEL_LEGACY_SCOPE_BASE')?.replace(/\/+$/, '') ?? null;
  const audience = optional('LAPEL_LEGACY_AUDIENCE');
  const others = {
    LAPEL_LEGACY_JWKS_URL: jwksUrl,
    LAPEL_LEGACY_SCOPE_BASE: scopeBase,
    LAPEL_LEGACY_AUDIENCE: audience,
  };
  if (issuer === null) {
    for (const [name, value] of Object.entries(others)) {
      if (value !== null) throw invalid(name, 'needs LAPEL_LEGACY_ISSUER');
    }
    return null;
  }
  if (jwksUrl === null) throw invalid('LAPEL_LEGACY_JWKS_URL', 'is needed with LAPEL_LEGACY_ISSUER');
  if (scopeBase === null) throw invalid('LAPEL_LEGACY_SCOPE_BASE', 'is needed with LAPEL_LEGACY_ISSUER');
  if (/\s/.test(scopeBase)) throw invalid('LAPEL_LEGACY_SCOPE_BASE', 'must have no spaces');
  if (issuer === publicUrl)
    throw invalid('LAPEL_LEGACY_ISSUER', `must be another than the service’s own, ${publicUrl}`);
  return { issuer, jwksUrl, scopeBase, audience };
}

/** `LAPEL_HTTP_PORT` -> `http-port`. */
export const optionName = (setting: string): string =>
  setting.slice('LAPEL_'.length).toLowerCase().replaceAll('_', '-');

interface Source {
  /** Environment variables. */
  env: Record<string, string | undefined>;
  /** Command-line options by `optionName`; they win. */
  options?: Record<string, string | undefined>;
  /** The process's limit of open files. */
  openFiles?: number;
}

/** Reads and checks all settings. Throws SETTING_INVALID that names the faulty one; unknown `LAPEL_` variables are faults. */
export function readConfig({ env, options = {}, openFiles = 4096 }: Source): Config {
  const known = new Set<string>([...SETTINGS.map(({ name }) => name), ...CLIENTS_OWN]);
  for (const name of Object.keys(env)) {
    if (name.startsWith('LAPEL_') && !known.has(name)) throw invalid(name, 'is not a setting of Lapel');
  }
  const optional = (name: SettingName): string | null => {
    const setting: Setting = SETTINGS.find((row) => row.name === name) as Setting;
    const value = options[optionName(name)] ?? env[name] ?? setting.fallback;
    if (value === null) return null;
    const problem = problemOf(setting.kind, value);
    if (problem) throw invalid(name, problem);
    return value;
  };
  const text = (name: SettingName): string => optional(name) ?? '';
  const flag = (name: SettingName): boolean => optional(name) === 'true';

  const mqttHost = text('LAPEL_MQTT_HOST');
  if (!LOOPBACK.test(mqttHost) && !flag('LAPEL_ALLOW_PLAIN_MQTT')) {
    throw invalid('LAPEL_MQTT_HOST', `${mqttHost} is not loopback: plain MQTT there needs LAPEL_ALLOW_PLAIN_MQTT=true`);
  }
  const listener = (host: string, port: string | null) => (port === null ? null : { host, port: Number(port) });
  const mqtts = listener(text('LAPEL_MQTTS_HOST'), optional('LAPEL_MQTTS_PORT'));
  const mqttWs = listener(text('LAPEL_MQTT_WS_HOST'), optional('LAPEL_MQTT_WS_PORT'));
  const [cert, key] = [optional('LAPEL_TLS_CERT'), optional('LAPEL_TLS_KEY')];
  const clientCa = optional('LAPEL_MQTT_CLIENT_CA');
  const clientCrl = optional('LAPEL_MQTT_CLIENT_CRL');
  if (clientCrl !== null && clientCa === null) {
    throw invalid('LAPEL_MQTT_CLIENT_CRL', 'needs LAPEL_MQTT_CLIENT_CA');
  }
  if ((mqtts || clientCa !== null || key !== null) && cert === null)
    throw invalid('LAPEL_TLS_CERT', 'is needed for TLS');
  if (cert !== null && key === null) throw invalid('LAPEL_TLS_KEY', 'is needed with LAPEL_TLS_CERT');
  if (cert !== null && !mqtts && !mqttWs) {
    throw invalid('LAPEL_TLS_CERT', 'has no use without LAPEL_MQTTS_PORT or LAPEL_MQTT_WS_PORT');
  }
  if (mqttWs && cert === null && !LOOPBACK.test(mqttWs.host) && !flag('LAPEL_ALLOW_PLAIN_MQTT')) {
    throw invalid(
      'LAPEL_MQTT_WS_HOST',
      `${mqttWs.host} is not loopback: there it needs LAPEL_TLS_CERT, or LAPEL_ALLOW_PLAIN_MQTT=true`,
    );
  }
  const plain: SettingName[] = ['LAPEL_HOST', 'LAPEL_ADMIN_HOST', 'LAPEL_OBJECTS_HOST'];
  const isOpen = (name: SettingName): boolean => !LOOPBACK.test(text(name));
  const open = flag('LAPEL_ALLOW_PLAIN_HTTP') ? undefined : plain.find(isOpen);
  if (open !== undefined) {
    throw invalid(open, `${text(open)} is not loopback: plain HTTP there needs LAPEL_ALLOW_PLAIN_HTTP=true`);
  }
  const token = optional('LAPEL_ADMIN_TOKEN');
  if (token !== null && token.length < ADMIN_TOKEN_LENGTH) {
    throw invalid('LAPEL_ADMIN_TOKEN', `must have ${ADMIN_TOKEN_LENGTH} characters or more`);
  }
  const publicUrl = optional('LAPEL_PUBLIC_URL')?.replace(/\/+$/, '') ?? null;
  const shares = shareOpenFiles(openFiles);
  const connections = (name: SettingName, most: number, usual = most): number => {
    const wanted = Number(optional(name) ?? usual);
    if (wanted <= most) return wanted;
    throw invalid(name, `must be at most ${most}: the limit of open files is ${openFiles}`);
  };
  const httpConnections = connections('LAPEL_HTTP_MAX_CONNECTIONS', shares.http);
  const addressLogins = optional('LAPEL_MQTT_ADDRESS_LOGINS');
  const objectsUrl = optional('LAPEL_OBJECTS_URL');
  // Signatures cover the path, so a proxy cannot put the store below one.
  if (objectsUrl !== null && new URL(objectsUrl).pathname !== '/') {
    throw invalid('LAPEL_OBJECTS_URL', `must have no path, not "${objectsUrl}"`);
  }
  return {
    dataDir: text('LAPEL_DATA_DIR'),
    databaseUrl: optional('LAPEL_DATABASE_URL'),
    databaseWaitSeconds: Number(text('LAPEL_DATABASE_WAIT')),
    http: {
      host: text('LAPEL_HOST'),
      port: Number(text('LAPEL_HTTP_PORT')),
      maxConnections: httpConnections,
      addressConnections: Number(
        optional('LAPEL_HTTP_ADDRESS_CONNECTIONS') ?? Math.max(1, Math.floor(httpConnections / 2)),
      ),
    },
    admin: {
      host: text('LAPEL_ADMIN_HOST'),
      port: Number(text('LAPEL_ADMIN_PORT')),
      token,
      maxConnections: shares.admin,
      names: [
        text('LAPEL_ADMIN_HOST'),
        ...text('LAPEL_ADMIN_NAMES').split(','),
        ...[publicUrl, optional('LAPEL_CONSOLE_URL')].map((url) => (url === null ? '' : new URL(url).hostname)),
      ].filter((name) => name !== ''),
    },
    mqtts,
    mqttWs,
    tls: cert !== null && key !== null ? { cert, key, clientCa, clientCrl } : null,
    mqtt: {
      host: mqttHost,
      port: Number(text('LAPEL_MQTT_PORT')),
      maxConnections: connections('LAPEL_MQTT_MAX_CONNECTIONS', shares.mqtt),
      addressLogins: addressLogins === null ? null : Number(addressLogins),
      loginSeconds: Number(text('LAPEL_MQTT_LOGIN_SECONDS')),
      messageRate: Number(text('LAPEL_DEVICE_RATE_LIMIT')),
    },
    handOverRate: Number(text('LAPEL_HAND_OVER_RATE')),
    eventMebibytes: {
      device: Number(text('LAPEL_DEVICE_EVENT_MIB')),
      application: Number(text('LAPEL_APPLICATION_EVENT_MIB')),
    },
    publicUrl,
    consoleUrl: optional('LAPEL_CONSOLE_URL'),
    objects: {
      host: text('LAPEL_OBJECTS_HOST'),
      port: Number(text('LAPEL_OBJECTS_PORT')),
      maxConnections: shares.objects,
      publicUrl: objectsUrl?.replace(/\/+$/, '') ?? null,
      endpoint: optional('LAPEL_S3_ENDPOINT')?.replace(/\/+$/, '') ?? null,
      region: text('LAPEL_S3_REGION'),
      bucket: text('LAPEL_S3_BUCKET'),
    },
    legacy: readLegacy(optional, publicUrl ?? `http://${text('LAPEL_HOST')}:${text('LAPEL_HTTP_PORT')}`),
    reservedPackagePrefix: text('LAPEL_RESERVED_PACKAGE_PREFIX'),
    quotas: {
      packages: Number(text('LAPEL_DEVELOPER_PACKAGES')),
      versions: Number(text('LAPEL_DEVELOPER_VERSIONS')),
      storedBytes: Number(text('LAPEL_DEVELOPER_STORED_GIB')) * 1024 ** 3,
    },
    apiRelease: text('LAPEL_API_RELEASE'),
    rateLimit: Number(text('LAPEL_RATE_LIMIT')),
    tokenRateLimit: Number(text('LAPEL_TOKEN_RATE_LIMIT')),
    failedLoginLimit: Number(text('LAPEL_FAILED_LOGIN_LIMIT')),
    feedStreams: Number(text('LAPEL_FEED_STREAMS')),
    timeZone: optional('LAPEL_TIME_ZONE') ?? Intl.DateTimeFormat().resolvedOptions().timeZone,
    retention: {
      transactions: Number(text('LAPEL_RETENTION_DAYS')),
      deliveries: Number(text('LAPEL_DELIVERY_RETENTION_DAYS')),
      audit: Number(text('LAPEL_AUDIT_RETENTION_DAYS')),
    },
    allowHttpWebhooks: flag('LAPEL_ALLOW_HTTP_WEBHOOKS'),
    webhookAllowPrivate: flag('LAPEL_WEBHOOK_ALLOW_PRIVATE'),
    logLevel: text('LAPEL_LOG_LEVEL'),
    given: SETTINGS.map(({ name }) => ({
      name,
      value: optional(name),
      isSet: (options[optionName(name)] ?? env[name]) !== undefined,
    })),
  };
}
