import { type Networks, readNetworks } from './networks.ts';
import { LOOPBACK, type PROXIED } from './setting-values.ts';

/** The names of the settings of the HTTP listeners; the TLS settings have the same prefix. */
const WEB = { api: 'LAPEL_HTTP', admin: 'LAPEL_ADMIN', objects: 'LAPEL_OBJECTS' } as const;

export type WebListener = keyof typeof WEB;
type TlsKind = 'CERT' | 'KEY' | 'CLIENT_CA';
type TlsName = `${(typeof WEB)[WebListener]}_TLS_${TlsKind}`;
type Name =
  | TlsName
  | `${(typeof WEB)[WebListener]}_HOST`
  | 'LAPEL_ALLOW_PLAIN_HTTP'
  | 'LAPEL_TRUST_PROXY'
  | 'LAPEL_PROXY_HEADER'
  | 'LAPEL_PROXY_PROTOCOL'
  | 'LAPEL_HSTS_SECONDS'
  | 'LAPEL_APPLICATION_CA'
  | 'LAPEL_APPLICATION_CRL'
  | 'LAPEL_APPLICATION_SELF_SIGNED'
  | 'LAPEL_CLIENT_CERT_HEADER'
  | 'LAPEL_ENROLMENT_CERTIFICATES'
  | 'LAPEL_MQTT_PUBLIC_URL'
  | 'LAPEL_S3_ENDPOINT'
  | 'LAPEL_MQTTS_PORT'
  | 'LAPEL_MQTT_WS_PORT';

/** The settings of what stands before the listeners: TLS of HTTP, and proxies. */
export interface EntranceSettings {
  /** The TLS files of the HTTP listeners; null for a listener with plain HTTP. */
  tls: Readonly<Record<WebListener, { cert: string; key: string; clientCa: string | null; clientCrl: null } | null>>;
  /** The addresses of the proxies; null when none is trusted. */
  trusted: Networks | null;
  header: 'any' | 'forwarded' | 'x-forwarded';
  /** The listeners whose connections begin with a header of the PROXY protocol. */
  proxied: ReadonlySet<(typeof PROXIED)[number]>;
  /** For how long browsers shall use TLS only, in seconds; 0: they are not told. */
  hstsSeconds: number;
  /** How applications, and devices that enrol, may prove with a certificate who they are. */
  clients: {
    /** The files of their CA and its revocation lists; null without a CA. */
    ca: string | null;
    crl: string | null;
    /** Whether a certificate that administration has registered needs no CA. */
    selfSigned: boolean;
    /** Whether devices may enrol by certificate. */
    enrolment: boolean;
    /** The header in which proxies pass on the certificates of clients, in lower case; null: clients show them to us. */
    header: string | null;
  };
  /** The URLs with which devices reach the service; null when they are those of the listeners. */
  mqttUrls: readonly string[] | null;
}

interface Source {
  optional(name: Name): string | null;
  /** Makes the error for a setting. */
  invalid(name: Name, problem: string): Error;
}

/** The settings of the TLS files of an HTTP listener. */
export const tlsSettingsOf = (listener: WebListener) =>
  ({
    cert: `${WEB[listener]}_TLS_CERT`,
    key: `${WEB[listener]}_TLS_KEY`,
    clientCa: `${WEB[listener]}_TLS_CLIENT_CA`,
    clientCrl: '',
  }) as const;

const listOf = (text: string): string[] => text.split(',').map((one) => one.trim());

function readTls(listener: WebListener, { optional, invalid }: Source): EntranceSettings['tls'][WebListener] {
  const names = tlsSettingsOf(listener);
  const [cert, key, clientCa] = [optional(names.cert), optional(names.key), optional(names.clientCa)];
  if (cert === null && key === null && clientCa === null) return null;
  if (cert === null) throw invalid(names.cert, `is needed with ${key === null ? names.clientCa : names.key}`);
  if (key === null) throw invalid(names.key, `is needed with ${names.cert}`);
  return { cert, key, clientCa, clientCrl: null };
}

/** Headers that say something else, or that a client may repeat. */
const OTHER_HEADERS = ['authorization', 'cookie', 'host', 'forwarded', 'set-cookie'];

function readClients({ optional, invalid }: Source, tls: EntranceSettings['tls']['api']) {
  const ca = optional('LAPEL_APPLICATION_CA');
  const crl = optional('LAPEL_APPLICATION_CRL');
  const selfSigned = optional('LAPEL_APPLICATION_SELF_SIGNED') === 'true';
  const enrolment = optional('LAPEL_ENROLMENT_CERTIFICATES') === 'true';
  const header = optional('LAPEL_CLIENT_CERT_HEADER')?.toLowerCase() ?? null;
  if (crl !== null && ca === null) throw invalid('LAPEL_APPLICATION_CRL', 'needs LAPEL_APPLICATION_CA');
  const wanted = [
    ...(ca !== null ? (['LAPEL_APPLICATION_CA'] as const) : []),
    ...(selfSigned ? (['LAPEL_APPLICATION_SELF_SIGNED'] as const) : []),
    ...(enrolment ? (['LAPEL_ENROLMENT_CERTIFICATES'] as const) : []),
  ];
  const [first] = wanted;
  if (header !== null) {
    if (optional('LAPEL_TRUST_PROXY') === null) throw invalid('LAPEL_CLIENT_CERT_HEADER', 'needs LAPEL_TRUST_PROXY');
    if (first === undefined)
      throw invalid(
        'LAPEL_CLIENT_CERT_HEADER',
        'needs LAPEL_APPLICATION_CA, LAPEL_APPLICATION_SELF_SIGNED or LAPEL_ENROLMENT_CERTIFICATES',
      );
    if (OTHER_HEADERS.includes(header) || header.startsWith('x-forwarded-'))
      throw invalid('LAPEL_CLIENT_CERT_HEADER', `${header} is a header with another meaning`);
  } else if (first !== undefined) {
    if (tls === null)
      throw invalid(first, 'needs LAPEL_HTTP_TLS_CERT, or LAPEL_CLIENT_CERT_HEADER of a proxy with TLS');
    if (tls.clientCa !== null)
      throw invalid(first, 'cannot be combined with LAPEL_HTTP_TLS_CLIENT_CA: a client shows one certificate');
  }
  return { ca, crl, selfSigned, enrolment, header };
}

/** Reads the settings, and throws for values that do not go together. */
export function readEntrance(source: Source): EntranceSettings {
  const { optional, invalid } = source;
  const tls = { api: readTls('api', source), admin: readTls('admin', source), objects: readTls('objects', source) };
  for (const listener of ['api', 'admin', 'objects'] as const) {
    const host = optional(`${WEB[listener]}_HOST`) ?? '';
    if (tls[listener] !== null || LOOPBACK.test(host) || optional('LAPEL_ALLOW_PLAIN_HTTP') === 'true') continue;
    const { cert } = tlsSettingsOf(listener);
    throw invalid(
      `${WEB[listener]}_HOST`,
      `${host} is not loopback: plain HTTP there needs LAPEL_ALLOW_PLAIN_HTTP=true, and HTTPS needs ${cert}`,
    );
  }
  const trusted = optional('LAPEL_TRUST_PROXY');
  const header = optional('LAPEL_PROXY_HEADER');
  const proxied = optional('LAPEL_PROXY_PROTOCOL');
  if (proxied !== null && trusted === null) throw invalid('LAPEL_PROXY_PROTOCOL', 'needs LAPEL_TRUST_PROXY');
  if (header !== 'any' && trusted === null) throw invalid('LAPEL_PROXY_HEADER', 'needs LAPEL_TRUST_PROXY');
  const names = proxied === null ? [] : (listOf(proxied) as (typeof PROXIED)[number][]);
  const isExternal = optional('LAPEL_S3_ENDPOINT') !== null;
  if (tls.objects !== null && isExternal) {
    throw invalid('LAPEL_OBJECTS_TLS_CERT', 'has no use with LAPEL_S3_ENDPOINT');
  }
  const absent = {
    objects: isExternal,
    mqtts: optional('LAPEL_MQTTS_PORT') === null,
    ws: optional('LAPEL_MQTT_WS_PORT') === null,
  };
  for (const name of ['objects', 'mqtts', 'ws'] as const) {
    if (absent[name] && names.includes(name)) throw invalid('LAPEL_PROXY_PROTOCOL', `${name} has no listener`);
  }
  const mqttUrls = optional('LAPEL_MQTT_PUBLIC_URL');
  return {
    tls,
    trusted: trusted === null ? null : (readNetworks(trusted) ?? null),
    header: header as EntranceSettings['header'],
    proxied: new Set(names),
    hstsSeconds: Number(optional('LAPEL_HSTS_SECONDS')),
    clients: readClients(source, tls.api),
    mqttUrls: mqttUrls === null ? null : listOf(mqttUrls),
  };
}
