import type { Audit } from '../../core/audit/audit.ts';
import type { Refusals } from '../../core/audit/refusals.ts';
import type { SecretReads } from '../../core/audit/secret-reads.ts';
import type { HostNames } from '../../platform/entrance/host-names.ts';
import { createTokenBuckets } from '../../runtime/token-buckets.ts';
import { createListener, type HttpServer, type ListenerParts } from '../http/listener.ts';
import { createRateLimit } from '../http/rate-limit.ts';
import { createAuthorize } from './authorize.ts';
import { createApiChanges } from './changes.ts';
import { ROUTES, STRICT_PATHS } from './routes.ts';
import type { ApiServices } from './services.ts';

/** The certificates that a device may have signed at once, and then one a minute, at each node. */
const RENEWALS_AT_ONCE = 10;
const RENEWALS_PER_SECOND = 1 / 60;

interface Parts extends ListenerParts, Omit<ApiServices, 'metrics' | 'tokenLimit' | 'enrolmentLimits' | 'proxies'> {
  audit: Pick<Audit, 'begin' | 'list'>;
  secretReads: SecretReads;
  refusals: Pick<Refusals, 'count'>;
  /** LAPEL_RATE_LIMIT: requests per second and application. */
  rateLimit: number;
  /** LAPEL_TOKEN_RATE_LIMIT: requests for access tokens per second and application. */
  tokenRateLimit: number;
  /** LAPEL_ENROLMENT_RATE_LIMIT: requests for enrolment per second with one code; of one developer four times as many. */
  enrolmentRateLimit: number;
  /** The host names that requests may have in `Host`. IP addresses are always accepted. */
  names: HostNames;
  /** LAPEL_TIME_ZONE: the time zone of local date-times. */
  timeZone: string;
  /**
   * The URL of this listener that callers use (`{base_url}`), without a slash at its end. It is a function, because a
   * free port is known only after listening.
   */
  publicUrl(): string;
}

/** The application API, the token endpoint and the documents of the token service, on one listener. */
export function createApiServer(parts: Parts): HttpServer {
  const { clock, publicUrl, rateLimit, tokenRateLimit, enrolmentRateLimit, timeZone, shares } = parts;
  const told = { 'Lapel-Time-Zone': timeZone };
  const shared = { clock, shares };
  const requests = createRateLimit({ ...shared, name: 'requests', perSecond: rateLimit });
  const tokenLimit = createRateLimit({ ...shared, name: 'tokens', perSecond: tokenRateLimit });
  const enrolmentLimits = {
    ofBatch: createRateLimit({ ...shared, name: 'enrolments of a batch', perSecond: enrolmentRateLimit }),
    ofDeveloper: createRateLimit({ ...shared, name: 'enrolments of a developer', perSecond: enrolmentRateLimit * 4 }),
    ofDevice: createTokenBuckets({ clock, perSecond: RENEWALS_PER_SECOND, size: RENEWALS_AT_ONCE }),
  };
  return createListener({
    ...parts,
    name: 'api',
    routes: ROUTES,
    strictPaths: STRICT_PATHS,
    services: { ...parts, tokenLimit, enrolmentLimits },
    authorize: createAuthorize(parts),
    changes: createApiChanges(parts),
    refused: (error, request) => parts.refusals.count(error, { listener: 'api', ...request }),
    headersFor: () => told,
    applicationOf: ({ applicationId }) => applicationId,
    developerOf: ({ developerId }) => developerId,
    limit: ({ applicationId }) => requests.take(applicationId),
    baseUrl: publicUrl,
  });
}
