import { createListener, type HttpServer, type ListenerParts } from '../http/listener.ts';
import { createAuthorize } from './authorize.ts';
import { ROUTES } from './routes.ts';
import type { AdminServices } from './services.ts';

interface Parts extends ListenerParts, Omit<AdminServices, 'metrics'> {
  administratorToken: string;
  /** The listener's own URL without a slash at its end; asked per request. */
  adminUrl(): string;
}

/** Administration, metrics and probes, on a listener of their own. */
export function createAdminServer({ administratorToken, adminUrl, ...parts }: Parts): HttpServer {
  const { developers, applications, devices, software, metrics, formatTime, ready } = parts;
  return createListener({
    ...parts,
    name: 'admin',
    routes: ROUTES,
    services: { developers, applications, devices, software, metrics, formatTime, ready },
    authorize: createAuthorize(administratorToken),
    baseUrl: adminUrl,
  });
}
