import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DomainError } from '@lapel/schemas/contracts/errors';
import {
  CLIENTS_OWN,
  type GivenSetting,
  holdsSecret,
  optionName,
  RENAMED,
  SETTINGS,
  type Setting,
  type SettingName,
} from '@lapel/schemas/contracts/settings';
import { faultOfTokens, tokensOf } from './runtime/administrator-token.ts';
import { type AlarmReceiver, readAlarmReceiver } from './runtime/alarm-settings.ts';
import { hasPassword } from './runtime/database-hosts.ts';
import { type EntranceSettings, readEntrance } from './runtime/entrance-settings.ts';
import { type LegacySettings, readLegacy } from './runtime/legacy-settings.ts';
import { type OpenFileShares, shareOpenFiles } from './runtime/open-files.ts';
import { type ProviderSettings, readProviders } from './runtime/provider-settings.ts';
import { LOOPBACK, problemOf } from './runtime/setting-values.ts';
import { readTracingTarget, type TracingTarget } from './runtime/tracing-target.ts';

/** The values of all settings, with their types, after they were checked alone and against each other. */
export interface Config {
  dataDir: string;
  /** The URL of PostgreSQL, with its password; null when SQLite in the data folder is used. */
  databaseUrl: string | null;
  /** The file that the URL is from; null: the setting itself has it. */
  databaseUrlFile: string | null;
  databaseWaitSeconds: number;
  /** Where the keys come from with which secrets are encrypted at rest; null: they are stored as they are. */
  encryption: { file: string } | { command: string } | null;
  http: {
    host: string;
    port: number;
    maxConnections: number;
    addressConnections: number;
    /** The host names that requests to the API may have in `Host`. IP addresses are always accepted. */
    names: readonly string[];
  };
  admin: {
    host: string;
    port: number;
    token: string | null;
    /** The file that the token is from; null: the setting itself has it, or the data folder. */
    tokenFile: string | null;
    maxConnections: number;
    /** The host names that requests for administration may have in `Host`. IP addresses are always accepted. */
    names: readonly string[];
    /** The providers with which people sign in to the console. */
    providers: readonly ProviderSettings[];
  };
  mqtt: {
    host: string;
    port: number;
    maxConnections: number;
    /** The most connections of one address that have not logged in; null means the default of the broker. */
    addressLogins: number | null;
    loginSeconds: number;
    /** Messages per second for each device. */
    messageRate: number;
    /** Whether MQTT 5 is spoken. */
    speaksFive: boolean;
    /** Whether the service signs client certificates for devices, and accepts them. */
    deviceCertificates: boolean;
  };
  /** The listener that has only metrics and probes; null when it is off. */
  metrics: { host: string; port: number } | null;
  entrance: EntranceSettings;
  /** The listener for MQTT over TLS; null when it is off. Likewise below for MQTT over WebSocket. */
  mqtts: { host: string; port: number } | null;
  mqttWs: { host: string; port: number } | null;
  /** The host names that browsers may have in `Host` for MQTT over WebSocket. IP addresses are always accepted. */
  mqttWsNames: readonly string[];
  /** The paths of the TLS files; null when neither `mqtts` nor `mqttWs` uses TLS. */
  tls: { cert: string; key: string; clientCa: string | null; clientCrl: string | null } | null;
  /** MiB of events that may be stored at once, and then again per day; 0 is no limit. */
  eventMebibytes: { device: number; application: number };
  publicUrl: string | null;
  consoleUrl: string | null;
  objects: {
    host: string;
    port: number;
    /** The most connections to the embedded object store. */
    maxConnections: number;
    publicUrl: string | null;
    /** The URL of an external object store; null when the embedded one is used. */
    endpoint: string | null;
    region: string;
    bucket: string;
  };
  /** The legacy identity provider whose tokens are accepted; null when there is none. */
  legacy: LegacySettings | null;
  reservedPackagePrefix: string;
  /** The packages, versions and bytes that each developer may have; 0 is no limit. */
  quotas: { packages: number; versions: number; storedBytes: number };
  apiRelease: string;
  /** Requests per second for each application; 0 is no limit. */
  rateLimit: number;
  tokenRateLimit: number;
  failedLoginLimit: number;
  enrolmentRateLimit: number;
  /** Whether assistants are served, by the listener. */
  assistants: { api: boolean; admin: boolean };
  feedStreams: number;
  /** The most devices of one device action. */
  deviceActionLimit: number;
  timeZone: string;
  /** The most devices per second whose connections a node closes so that they move to other nodes; 0 closes none. */
  handOverRate: number;
  /** Days after which old rows are removed; 0 keeps them for ever, except samples, of which it stores none. */
  retention: { transactions: number; deliveries: number; audit: number; connections: number; samples: number };
  /** The receiver of the audit log; null when it stays here. */
  auditSyslog: { target: URL; caFile: string | null } | null;
  /** The receiver of alarms; null: they stay in the console. */
  alarms: AlarmReceiver | null;
  allowHttpWebhooks: boolean;
  webhookAllowPrivate: boolean;
  webhookDirect: boolean;
  /** The limit of open files, and what follows from it. */
  files: { limit: number; shares: OpenFileShares };
  webhooksHeld: boolean;
  logLevel: string;
  /** Where spans are exported to; null: nothing is traced. */
  tracing: TracingTarget;
  /** All settings with their values as text, for administration. */
  given: readonly GivenSetting[];
}

/** The files with secrets that the settings name: the others are in the data folder. */
export const secretFilesOf = ({ admin, databaseUrlFile, encryption, entrance, tls }: Config): string[] => [
  ...[...Object.values(entrance.tls), tls].flatMap((paths) => paths?.key ?? []),
  ...[admin.tokenFile, databaseUrlFile].flatMap((path) => path ?? []),
  ...(encryption !== null && 'file' in encryption ? [encryption.file] : []),
];

const invalid = (setting: string, problem: string): DomainError =>
  new DomainError('SETTING_INVALID', { values: { setting, problem } });

/** Reads a value from the file that a setting `..._FILE` names. A line break at its end does not count. */
function contentOf(setting: string, path: string): string {
  let content: string;
  try {
    content = readFileSync(path, 'utf8').replace(/\r?\n$/, '');
  } catch (error) {
    throw invalid(setting, `${path} cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown'})`);
  }
  if (content === '') throw invalid(setting, `${path} is empty`);
  return content;
}

/** Refuses a secret on the command line, where every user of the machine sees it. */
function refuseSecret(setting: Setting, value: string | undefined): void {
  if (value === undefined || !holdsSecret(setting)) return;
  if (setting.kind === 'database' && !hasPassword(value)) return;
  const what = setting.kind === 'database' ? 'with a password ' : '';
  const problem = `${what}cannot be an option, which other users of the machine can read; use ${setting.name}_FILE, or the environment`;
  throw invalid(setting.name, problem);
}

/**
 * The credentials of systemd that are secrets of settings, as the values of the settings `..._FILE`: `lapel.admin-token`
 * is for LAPEL_ADMIN_TOKEN_FILE. A setting that is given in another way takes precedence.
 */
function credentialsOf(
  env: Record<string, string | undefined>,
  given: (name: string) => string | undefined,
): ReadonlyMap<string, string> {
  const folder = env['CREDENTIALS_DIRECTORY'];
  const found = new Map<string, string>();
  if (!folder) return found;
  for (const { name } of SETTINGS) {
    const about = name.slice(0, -'_FILE'.length);
    if (!name.endsWith('_FILE') || [name, about, `${about}_COMMAND`].some((one) => given(one) !== undefined)) continue;
    const path = join(folder, `lapel.${optionName(about)}`);
    if (existsSync(path)) found.set(name, path);
  }
  return found;
}

/** Reads the receiver of the audit log. */
function readSyslog(optional: (name: SettingName) => string | null): Config['auditSyslog'] {
  const [target, caFile] = [optional('LAPEL_AUDIT_SYSLOG'), optional('LAPEL_AUDIT_SYSLOG_CA')];
  if (caFile !== null && !target?.startsWith('tls:'))
    throw invalid('LAPEL_AUDIT_SYSLOG_CA', 'needs LAPEL_AUDIT_SYSLOG with tls://');
  if (caFile !== null) contentOf('LAPEL_AUDIT_SYSLOG_CA', caFile);
  return target === null ? null : { target: new URL(target), caFile };
}

interface Source {
  /** The environment variables. */
  env: Record<string, string | undefined>;
  /** The values of options, by the name that `optionName` makes. They take precedence over the environment. */
  options?: Record<string, string | undefined>;
  /** The limit of open files of the process, from which the most connections follow. */
  openFiles?: number;
}

/**
 * Reads and checks all settings. Throws SETTING_INVALID, which names the faulty setting, also for an unknown variable
 * that begins with `LAPEL_`.
 */
export function readConfig({ env, options = {}, openFiles = 4096 }: Source): Config {
  const known = new Set<string>([...SETTINGS.map(({ name }) => name), ...CLIENTS_OWN]);
  for (const name of Object.keys(env)) {
    if (!name.startsWith('LAPEL_') || known.has(name)) continue;
    const renamed = RENAMED[name];
    throw invalid(name, renamed === undefined ? 'is not a setting of Lapel' : `is called ${renamed} now`);
  }
  for (const setting of SETTINGS) refuseSecret(setting, options[optionName(setting.name)]);
  const given = (name: string): string | undefined => options[optionName(name)] ?? env[name];
  const credentials = credentialsOf(env, given);
  const files = new Map<string, string>();
  for (const { name } of SETTINGS) {
    const path = given(name) ?? credentials.get(name);
    const about = name.slice(0, -'_FILE'.length);
    // Other files, such as that of the encryption keys, are read where they are used.
    if (!name.endsWith('_FILE') || path === undefined || !known.has(about)) continue;
    if (given(about) !== undefined) throw invalid(name, `cannot be combined with ${about}`);
    files.set(about, contentOf(name, path));
  }
  const set = (name: SettingName): string | undefined => given(name) ?? credentials.get(name) ?? files.get(name);
  const optional = (name: SettingName): string | null => {
    const setting: Setting = SETTINGS.find((row) => row.name === name) as Setting;
    const value = set(name) ?? setting.fallback;
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
  if (flag('LAPEL_DEVICE_CERTIFICATES') && cert === null)
    throw invalid('LAPEL_DEVICE_CERTIFICATES', 'needs LAPEL_TLS_CERT');
  if (mqttWs && cert === null && !LOOPBACK.test(mqttWs.host) && !flag('LAPEL_ALLOW_PLAIN_MQTT')) {
    throw invalid(
      'LAPEL_MQTT_WS_HOST',
      `${mqttWs.host} is not loopback: there it needs LAPEL_TLS_CERT, or LAPEL_ALLOW_PLAIN_MQTT=true`,
    );
  }
  const entrance = readEntrance({ optional, invalid });
  const metrics = listener(text('LAPEL_METRICS_HOST'), optional('LAPEL_METRICS_PORT'));
  if (!metrics && !LOOPBACK.test(text('LAPEL_METRICS_HOST'))) {
    throw invalid('LAPEL_METRICS_HOST', 'has no use without LAPEL_METRICS_PORT');
  }
  const token = optional('LAPEL_ADMIN_TOKEN');
  const faultOfToken = token === null ? undefined : faultOfTokens(tokensOf(token));
  if (faultOfToken !== undefined) throw invalid('LAPEL_ADMIN_TOKEN', faultOfToken);
  const [keyFile, keyCommand] = [optional('LAPEL_ENCRYPTION_KEY_FILE'), optional('LAPEL_ENCRYPTION_KEY_COMMAND')];
  if (keyFile !== null && keyCommand !== null)
    throw invalid('LAPEL_ENCRYPTION_KEY_COMMAND', 'cannot be combined with LAPEL_ENCRYPTION_KEY_FILE');
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
  // The signature of an upload or download URL covers its path, so a proxy cannot serve the store below another path.
  if (objectsUrl !== null && new URL(objectsUrl).pathname !== '/') {
    throw invalid('LAPEL_OBJECTS_URL', `must have no path, not "${objectsUrl}"`);
  }
  /** The names in `Host` of a listener: its own, those of its setting, and those of URLs. */
  const namesOf = (host: SettingName, names: SettingName, urls: readonly (string | null)[]): string[] =>
    [text(host), ...text(names).split(','), ...urls.map((url) => (url === null ? '' : new URL(url).hostname))].filter(
      (name) => name !== '',
    );
  const urls = [publicUrl, optional('LAPEL_CONSOLE_URL')];
  return {
    dataDir: text('LAPEL_DATA_DIR'),
    databaseUrl: optional('LAPEL_DATABASE_URL'),
    databaseUrlFile: optional('LAPEL_DATABASE_URL_FILE'),
    databaseWaitSeconds: Number(text('LAPEL_DATABASE_WAIT')),
    encryption: keyFile !== null ? { file: keyFile } : keyCommand !== null ? { command: keyCommand } : null,
    http: {
      host: text('LAPEL_HTTP_HOST'),
      port: Number(text('LAPEL_HTTP_PORT')),
      maxConnections: httpConnections,
      addressConnections: Number(
        optional('LAPEL_HTTP_ADDRESS_CONNECTIONS') ?? Math.max(1, Math.floor(httpConnections / 2)),
      ),
      names: namesOf('LAPEL_HTTP_HOST', 'LAPEL_HTTP_NAMES', urls),
    },
    admin: {
      host: text('LAPEL_ADMIN_HOST'),
      port: Number(text('LAPEL_ADMIN_PORT')),
      token,
      tokenFile: optional('LAPEL_ADMIN_TOKEN_FILE'),
      maxConnections: shares.admin,
      names: namesOf('LAPEL_ADMIN_HOST', 'LAPEL_ADMIN_NAMES', urls),
      providers: readProviders(optional('LAPEL_SIGN_IN_PROVIDERS'), {
        fault: (problem) => invalid('LAPEL_SIGN_IN_PROVIDERS', problem),
        contentOf: (path) => contentOf('LAPEL_SIGN_IN_PROVIDERS', path),
      }),
    },
    metrics,
    entrance,
    mqtts,
    mqttWs,
    mqttWsNames: namesOf('LAPEL_MQTT_WS_HOST', 'LAPEL_HTTP_NAMES', [publicUrl, ...(entrance.mqttUrls ?? [])]),
    tls: cert !== null && key !== null ? { cert, key, clientCa, clientCrl } : null,
    mqtt: {
      host: mqttHost,
      port: Number(text('LAPEL_MQTT_PORT')),
      maxConnections: connections('LAPEL_MQTT_MAX_CONNECTIONS', shares.mqtt),
      addressLogins: addressLogins === null ? null : Number(addressLogins),
      loginSeconds: Number(text('LAPEL_MQTT_LOGIN_SECONDS')),
      messageRate: Number(text('LAPEL_DEVICE_RATE_LIMIT')),
      speaksFive: flag('LAPEL_MQTT_5'),
      deviceCertificates: flag('LAPEL_DEVICE_CERTIFICATES'),
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
    legacy: readLegacy(
      { optional, invalid },
      publicUrl ?? `http${entrance.tls.api ? 's' : ''}://${text('LAPEL_HTTP_HOST')}:${text('LAPEL_HTTP_PORT')}`,
    ),
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
    enrolmentRateLimit: Number(text('LAPEL_ENROLMENT_RATE_LIMIT')),
    assistants: { api: flag('LAPEL_ASSISTANTS'), admin: flag('LAPEL_ADMIN_ASSISTANTS') },
    feedStreams: Number(text('LAPEL_FEED_STREAMS')),
    deviceActionLimit: Number(text('LAPEL_DEVICE_ACTION_LIMIT')),
    timeZone: optional('LAPEL_TIME_ZONE') ?? Intl.DateTimeFormat().resolvedOptions().timeZone,
    retention: {
      transactions: Number(text('LAPEL_RETENTION_DAYS')),
      deliveries: Number(text('LAPEL_DELIVERY_RETENTION_DAYS')),
      audit: Number(text('LAPEL_AUDIT_RETENTION_DAYS')),
      connections: Number(text('LAPEL_CONNECTION_RETENTION_DAYS')),
      samples: Number(text('LAPEL_SAMPLE_RETENTION_DAYS')),
    },
    auditSyslog: readSyslog(optional),
    alarms: readAlarmReceiver(optional),
    allowHttpWebhooks: flag('LAPEL_ALLOW_HTTP_WEBHOOKS'),
    webhookAllowPrivate: flag('LAPEL_WEBHOOK_ALLOW_PRIVATE'),
    webhookDirect: flag('LAPEL_WEBHOOK_DIRECT'),
    files: { limit: openFiles, shares },
    webhooksHeld: flag('LAPEL_WEBHOOKS_HELD'),
    logLevel: text('LAPEL_LOG_LEVEL'),
    tracing: readTracingTarget(env, (name, problem) => {
      throw invalid(name, problem);
    }),
    given: SETTINGS.map(({ name }) => ({ name, value: optional(name), isSet: set(name) !== undefined })),
  };
}
