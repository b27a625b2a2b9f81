import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Gauge, Registry } from 'prom-client';
import { STAGES } from '../customer/figures.ts';
import { UsageError } from '../usage-error.ts';
import { FIGURES, numberOf } from './figure-names.ts';
import type { Chapter } from './record.ts';

const PERCENTS = [50, 90, 99, 100];
/** The path at which Prometheus looks for metrics. */
const PATH = '/metrics';

/** The state of a run, as far as the page shows it. */
interface Shown {
  chapters(): readonly Chapter[];
  standing(): readonly {
    readonly expectation: { readonly text: string; readonly phase: string | null };
    readonly holds: boolean;
  }[];
}

/** The figures of a run as metrics of Prometheus, while the run goes on. */
async function metricsOf({ chapters, standing }: Shown): Promise<string> {
  const registry = new Registry();
  const registers = [registry];
  const figure = new Gauge({
    name: 'lapelsim_figure',
    help: 'A figure of the run until now, by its name in expectations and by phase; `run` is the whole run',
    labelNames: ['figure', 'phase'],
    registers,
  });
  const latency = new Gauge({
    name: 'lapelsim_latency_seconds',
    help: 'Time from a request to a stage of its transaction, by percent of the transactions that were not slower',
    labelNames: ['stage', 'percent', 'phase'],
    registers,
  });
  const holds = new Gauge({
    name: 'lapelsim_expectation_holds',
    help: 'Whether an expectation holds until now: 1, or 0',
    labelNames: ['expectation', 'phase'],
    registers,
  });
  for (const chapter of chapters()) {
    const { name: phase } = chapter;
    for (const name of Object.keys(FIGURES)) {
      const value = numberOf({ kind: 'count', name, detail: null }, chapter);
      if (value !== undefined) figure.set({ figure: name, phase }, value);
    }
    for (const stage of STAGES)
      for (const percent of PERCENTS) {
        const value = numberOf({ kind: 'latency', percent, stage }, chapter);
        if (value !== undefined) latency.set({ stage, percent: String(percent), phase }, value / 1000);
      }
  }
  for (const { expectation, holds: isMet } of standing())
    holds.set({ expectation: expectation.text, phase: expectation.phase ?? 'run' }, isMet ? 1 : 0);
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
