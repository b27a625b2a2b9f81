import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Gauge, Registry } from 'prom-client';
import { UsageError } from '../usage-error.ts';
import { RUN_METRICS, type Shown } from './run-metrics.ts';

/** The path at which Prometheus looks for metrics. */
const PATH = '/metrics';

/** The figures of a run as metrics of Prometheus, while the run goes on. */
async function metricsOf(run: Shown): Promise<string> {
  const registry = new Registry();
  for (const { name, about, labels, read } of RUN_METRICS) {
    const gauge = new Gauge({ name, help: about, labelNames: labels, registers: [registry] });
    for (const point of read(run)) gauge.set(point.labels, point.value);
  }
  return registry.metrics();
}

/** A page with the figures of a run, for Prometheus. */
export interface FiguresPage extends AsyncDisposable {
  readonly url: string;
  /** Shows this run from now on; before it the page is empty. */
  show(run: Shown): void;
}

/** Listens until it is disposed. Throws a UsageError if the address cannot be used. */
export async function startFiguresPage({ host, port }: { host: string; port: number }): Promise<FiguresPage> {
  let run: Shown | undefined;
  const server = createServer((request, response) => {
    const isKnown = request.method === 'GET' && request.url === PATH;
    if (!isKnown) return void response.writeHead(404).end();
    void (run ? metricsOf(run) : Promise.resolve('')).then(
      (text) => response.writeHead(200, { 'content-type': Registry.PROMETHEUS_CONTENT_TYPE }).end(text),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  server.listen(port, host);
  try {
    await once(server, 'listening');
  } catch (error) {
    throw new UsageError('--figures', (error as Error).message);
  }
  const { port: used } = server.address() as AddressInfo;
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${used}${PATH}`,
    show(shown) {
      run = shown;
    },
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
