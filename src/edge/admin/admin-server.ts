import type { Refusals } from '../../core/audit/refusals.ts';
import type { HostNames } from '../../platform/entrance/host-names.ts';
import { createListener, type HttpServer, type ListenerParts } from '../http/listener.ts';
import { type Administrator, createAuthorize } from './authorize.ts';
import { createAdminChanges } from './changes.ts';
import type { IdentifyToken } from './identify.ts';
import { ROUTES } from './routes.ts';
import type { AdminServices } from './services.ts';

interface Parts extends ListenerParts, Omit<AdminServices, 'metrics'> {
  identify: IdentifyToken;
  refusals: Pick<Refusals, 'count'>;
  /** The host names that requests for administration may have in `Host`. IP addresses are always accepted. */
  names: HostNames;
  /**
   * The URL of this listener without a slash at its end. It is a function, because a free port is known only after
   * listening.
   */
  adminUrl(): string;
  /** LAPEL_TIME_ZONE: the time zone of local date-times. */
  timeZone: string;
}

// Milliseconds for a whole request. It is an hour, because an import of many devices is read only as fast as the
// devices are registered.
const LONGEST_REQUEST = 3_600_000;

/**
 * Headers of answers to a session of the console. They forbid the browser to keep the data, or to give it to pages of
 * other origins.
 */
const FOR_BROWSERS = {
  'Cache-Control': 'no-store',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'X-Content-Type-Options': 'nosniff',
};

/** Creates the listener of administration, metrics and probes. */
export function createAdminServer(parts: Parts): HttpServer {
  const told = { 'Lapel-Time-Zone': parts.timeZone };
  const toBrowsers = { ...told, ...FOR_BROWSERS };
  return createListener({
    ...parts,
    name: 'admin',
    routes: ROUTES,
    services: parts,
    authorize: createAuthorize(parts),
    changes: createAdminChanges(parts),
    refused: (error, request) => parts.refusals.count(error, { listener: 'admin', ...request }),
    headersFor: ({ kind }: Administrator) => (kind === 'session' ? toBrowsers : told),
    baseUrl: parts.adminUrl,
    requestTimeout: LONGEST_REQUEST,
  });
}
