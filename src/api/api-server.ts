import { createListener, type HttpServer, type ListenerParts } from '../http/listener.ts';
import { createAuthorize } from './authorize.ts';
import { ROUTES, STRICT_PATHS } from './routes.ts';
import type { ApiServices } from './services.ts';

interface Parts extends ListenerParts, Omit<ApiServices, 'metrics'> {
  /** `{base_url}` without a slash at its end; asked per request, because a free port is known only after listening. */
  publicUrl(): string;
}

/** The application API, the token endpoint and the documents of the token service, on one listener. */
export function createApiServer({ publicUrl, applications, accessTokens, ...parts }: Parts): HttpServer {
  const { devices, statuses, transactions, software, removals, metrics, formatTime } = parts;
  return createListener({
    ...parts,
    name: 'api',
    routes: ROUTES,
    strictPaths: STRICT_PATHS,
    services: { applications, accessTokens, devices, statuses, transactions, software, removals, metrics, formatTime },
    authorize: createAuthorize({ accessTokens, applications }),
    baseUrl: publicUrl,
  });
}
