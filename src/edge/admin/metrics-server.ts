import type { HostNames } from '../../platform/entrance/host-names.ts';
import { createListener, type HttpServer, type ListenerParts } from '../http/listener.ts';
import { routesOf } from '../http/route.ts';
import { readHealth, readMetrics, readReadiness } from './operation.ts';
import type { AdminServices } from './services.ts';

type Services = Pick<AdminServices, 'metrics' | 'metricsText' | 'readiness' | 'signs'>;
interface Parts extends ListenerParts, Services {
  metrics: ListenerParts['metrics'];
  /** The host names that requests may have in `Host`, as for administration. */
  names: HostNames;
  metricsUrl(): string;
}

const route = routesOf<Services, never>();
// biome-ignore format: a table is read by its rows
const ROUTES = [
  route('GET', '/metrics', null, {}, readMetrics),
  route('GET', '/healthz', null, { anyHost: true }, readHealth),
  route('GET', '/readyz', null, { anyHost: true }, readReadiness),
];

/** Creates the listener that has only metrics and probes, for scrapers that must not reach administration. */
export const createMetricsServer = (parts: Parts): HttpServer =>
  createListener<Services, never>({
    ...parts,
    name: 'metrics',
    routes: ROUTES,
    services: parts,
    authorize: () => {
      throw new Error('no route here has a scope');
    },
    baseUrl: parts.metricsUrl,
  });
