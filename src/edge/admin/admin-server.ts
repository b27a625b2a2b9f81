import { createListener, type HttpServer, type ListenerParts } from '../http/listener.ts';
import { type Administrator, createAuthorize } from './authorize.ts';
import { createAdminChanges } from './changes.ts';
import { ROUTES } from './routes.ts';
import type { AdminServices } from './services.ts';

interface Parts extends ListenerParts, Omit<AdminServices, 'metrics'> {
  administratorToken: string;
  /** What it is called, besides by its address. */
  names: readonly string[];
  /** The listener's own URL without a slash at its end; asked per request. */
  adminUrl(): string;
}

// Milliseconds for a whole request: an import of many devices comes as fast as its devices are registered.
const LONGEST_REQUEST = 3_600_000;

/** Browsers keep nothing of the data, and give it to no other page. */
const FOR_BROWSERS = {
  'Cache-Control': 'no-store',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'X-Content-Type-Options': 'nosniff',
};

/** Administration, metrics and probes, on a listener of their own. */
export function createAdminServer(parts: Parts): HttpServer {
  return createListener({
    ...parts,
    name: 'admin',
    routes: ROUTES,
    services: parts,
    authorize: createAuthorize(parts),
    changes: createAdminChanges(parts.audit),
    headersFor: ({ kind }: Administrator) => (kind === 'session' ? FOR_BROWSERS : undefined),
    baseUrl: parts.adminUrl,
    requestTimeout: LONGEST_REQUEST,
  });
}
