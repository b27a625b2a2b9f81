import { createHash } from 'node:crypto';
import type { Config } from '../../config.ts';

/** The settings that all nodes must have in common, since otherwise different nodes would answer a caller differently. */
const SHARED = {
  LAPEL_ADMIN_TOKEN: (config: Config) => digest(config.admin.token ?? ''),
  LAPEL_PUBLIC_URL: (config: Config) => config.publicUrl,
  LAPEL_OBJECTS_URL: (config: Config) => config.objects.publicUrl,
  LAPEL_S3_ENDPOINT: (config: Config) => config.objects.endpoint,
  LAPEL_S3_REGION: (config: Config) => config.objects.region,
  LAPEL_S3_BUCKET: (config: Config) => config.objects.bucket,
  LAPEL_RESERVED_PACKAGE_PREFIX: (config: Config) => config.reservedPackagePrefix,
  LAPEL_API_RELEASE: (config: Config) => config.apiRelease,
  LAPEL_RATE_LIMIT: (config: Config) => config.rateLimit,
  LAPEL_TOKEN_RATE_LIMIT: (config: Config) => config.tokenRateLimit,
  LAPEL_FAILED_LOGIN_LIMIT: (config: Config) => config.failedLoginLimit,
  LAPEL_DEVICE_RATE_LIMIT: (config: Config) => config.mqtt.messageRate,
  LAPEL_DEVICE_EVENT_MIB: (config: Config) => config.eventMebibytes.device,
  LAPEL_APPLICATION_EVENT_MIB: (config: Config) => config.eventMebibytes.application,
  LAPEL_LEGACY_ISSUER: (config: Config) => config.legacy?.issuer,
  LAPEL_LEGACY_JWKS_URL: (config: Config) => config.legacy?.jwksUrl,
  LAPEL_LEGACY_SCOPE_BASE: (config: Config) => config.legacy?.scopeBase,
  LAPEL_LEGACY_AUDIENCE: (config: Config) => config.legacy?.audience,
  LAPEL_TIME_ZONE: (config: Config) => config.timeZone,
  LAPEL_RETENTION_DAYS: (config: Config) => config.retention.transactions,
  LAPEL_DELIVERY_RETENTION_DAYS: (config: Config) => config.retention.deliveries,
  LAPEL_ALLOW_HTTP_WEBHOOKS: (config: Config) => config.allowHttpWebhooks,
  LAPEL_WEBHOOK_ALLOW_PRIVATE: (config: Config) => config.webhookAllowPrivate,
} as const;

/** A digest, because no secret may leave its node. The secret has at least 32 characters, so it cannot be guessed from it. */
const digest = (secret: string): string => createHash('sha256').update(secret).digest('hex').slice(0, 16);

/** The settings of a node in the form that the other nodes compare. */
export const fingerprintOf = (config: Config, release: string): string =>
  JSON.stringify({
    release,
    ...Object.fromEntries(Object.entries(SHARED).map(([name, read]) => [name, read(config) ?? null])),
  });

/** The names of the settings that differ in two fingerprints. A newer release may have settings that are missing here; they are ignored. */
export function differingSettings(own: string, other: string): string[] {
  const [mine, theirs] = [own, other].map((text) => JSON.parse(text) as Record<string, unknown>) as [
    Record<string, unknown>,
    Record<string, unknown>,
  ];
  return Object.keys(mine).filter((name) => name in theirs && mine[name] !== theirs[name]);
}

/** The settings that a node must have before another may join, and that this one lacks. */
export const lackingSettings = (config: Config): string[] =>
  [
    ['LAPEL_ADMIN_TOKEN', config.admin.token] as const, // without it each node would make its own
    ['LAPEL_PUBLIC_URL', config.publicUrl] as const, // the issuer of tokens, which all nodes must accept
    ['LAPEL_S3_ENDPOINT', config.objects.endpoint] as const, // the embedded store has its files on a single machine
  ].flatMap(([name, value]) => (value === null ? [name] : []));
