import { ownVersion } from '@lapel/schemas/base/version';
import { OTLPExporterBase } from '@opentelemetry/otlp-exporter-base';
import { convertLegacyHttpOptions, createOtlpHttpExportDelegate } from '@opentelemetry/otlp-exporter-base/node-http';
import { JsonMetricsSerializer, MetricsExporterMetricsHelper } from '@opentelemetry/otlp-transformer';
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import {
  MeterProvider,
  PeriodicExportingMetricReader,
  type PushMetricExporter,
  type ResourceMetrics,
} from '@opentelemetry/sdk-metrics';
import { RUN_METRICS, type Shown } from './run-metrics.ts';

/** Milliseconds between two exports. */
const EVERY = 5_000;
/** Milliseconds in which a collector must answer: at its end a run waits no longer. */
const TIMEOUT = 3_000;
/** The most values of a metric: figures of some hundred phases. */
const MOST_VALUES = 100_000;

/** Sends the figures of a run to a collector of OpenTelemetry, while the run goes on and at its end. */
export interface FiguresPush extends AsyncDisposable {
  /** Sends the figures of this run from now on. */
  show(run: Shown): void;
}

/** OTLP over HTTP, in JSON. Headers come from OTEL_EXPORTER_OTLP_HEADERS, as for every program of OpenTelemetry. */
function exporterTo(url: string): PushMetricExporter {
  const options = convertLegacyHttpOptions({ url, timeoutMillis: TIMEOUT }, 'METRICS', 'v1/metrics', {
    'Content-Type': 'application/json',
  });
  return new OTLPExporterBase<ResourceMetrics>(
    createOtlpHttpExportDelegate(
      options,
      JsonMetricsSerializer,
      'otlp_http_metric_exporter',
      MetricsExporterMetricsHelper,
      undefined,
    ),
  );
}

/** `onNote` is told at the end if the collector did not get the figures: the run itself goes on without it. */
export function startFiguresPush(
  url: string,
  { run, onNote, every = EVERY }: { run: string; onNote: (note: string) => void; every?: number },
): FiguresPush {
  const exporter = exporterTo(url);
  let failed = 0;
  let reason = '';
  const counted: PushMetricExporter = {
    export: (metrics, done) =>
      exporter.export(metrics, (result) => {
        if (result.code !== 0) {
          failed += 1;
          reason = result.error?.message ?? 'no reason was given';
        }
        done(result);
      }),
    forceFlush: () => exporter.forceFlush(),
    shutdown: () => exporter.shutdown(),
  };
  const provider = new MeterProvider({
    resource: defaultResource()
      .merge(
        resourceFromAttributes({
          'service.name': 'lapel-sim',
          'service.version': ownVersion(),
          'service.instance.id': run,
        }),
      )
      .merge(detectResources({ detectors: [envDetector] })),
    readers: [
      new PeriodicExportingMetricReader({
        exporter: counted,
        exportIntervalMillis: every,
        exportTimeoutMillis: every,
        cardinalityLimits: { default: MOST_VALUES },
      }),
    ],
  });
  const meter = provider.getMeter('lapel-sim', ownVersion());
  return {
    show(shown) {
      for (const { name, about, read } of RUN_METRICS)
        meter.createObservableGauge(name, { description: about }).addCallback((result) => {
          for (const { labels, value } of read(shown)) result.observe(value, labels);
        });
    },
    async [Symbol.asyncDispose]() {
      await provider.shutdown().catch(() => undefined);
      if (failed > 0) onNote(`the figures could not be sent to ${url} (${failed} times): ${reason}`);
    },
  };
}
