import { ownVersion } from '@lapel/schemas/base/version';
import {
  DiagLogLevel,
  diag,
  ROOT_CONTEXT,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import { OTLPTraceExporter as JsonExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { OTLPTraceExporter as ProtobufExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import { BasicTracerProvider, BatchSpanProcessor, type SpanExporter } from '@opentelemetry/sdk-trace-base';
import { createLogLimit } from '../../runtime/log-limit.ts';
import { type Beginning, readTraceparent, type Span, type Tracing } from '../../runtime/tracing.ts';
import type { TracingTarget } from '../../runtime/tracing-target.ts';
import type { Micros } from '../../runtime/units.ts';
import type { TracingParts } from './open-tracing.ts';

const KINDS: Readonly<Record<Beginning['kind'], SpanKind>> = {
  internal: SpanKind.INTERNAL,
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
};

/** Milliseconds that the export of the last spans may take when the service stops. */
const LAST_EXPORT_MS = 2_000;
/** The longest text of an attribute: webhooks and devices choose some of them. */
const LONGEST_ATTRIBUTE = 1024;

/** A time as OpenTelemetry writes it: seconds, and nanoseconds of the second. */
const timeOf = (at: Micros): [seconds: number, nanoseconds: number] => [
  Math.floor(at / 1_000_000),
  (at % 1_000_000) * 1000,
];

const textOf = ({ traceId, spanId, traceFlags }: SpanContext): string =>
  `00-${traceId}-${spanId}-${(traceFlags & 1).toString(16).padStart(2, '0')}`;

/**
 * Records spans and exports them to a collector. A collector that does not answer costs the service only the spans:
 * the queue is bounded, and what does not fit is dropped and counted. The further settings are the variables of
 * OpenTelemetry (`OTEL_SERVICE_NAME`, `OTEL_TRACES_SAMPLER`, `OTEL_BSP_...` and so on), which its libraries read.
 */
export function createTelemetry(
  { url, protocol }: NonNullable<TracingTarget>,
  { clock, log, metrics }: TracingParts,
): Tracing {
  const mayLog = createLogLimit({ clock });
  const tell = (message: string): void => {
    const leftOut = mayLog('tracing', 'tracing');
    if (leftOut !== undefined) log.warn({ url, reason: message, ...(leftOut > 0 && { leftOut }) }, 'tracing');
  };
  diag.setLogger(
    { error: tell, warn: tell, info: () => undefined, debug: () => undefined, verbose: () => undefined },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  );
  const exporter: SpanExporter = protocol === 'http/json' ? new JsonExporter({ url }) : new ProtobufExporter({ url });
  const counted: SpanExporter = {
    export: (spans, done) =>
      exporter.export(spans, (result) => {
        metrics.spansExported.inc({ outcome: result.code === 0 ? 'ok' : 'failed' }, spans.length);
        if (result.code !== 0) tell(result.error?.message ?? 'spans could not be exported');
        done(result);
      }),
    shutdown: () => exporter.shutdown(),
  };
  const processor = new BatchSpanProcessor(counted);
  const provider = new BasicTracerProvider({
    resource: defaultResource()
      .merge(resourceFromAttributes({ 'service.name': 'lapel', 'service.version': ownVersion() }))
      .merge(detectResources({ detectors: [envDetector] })),
    spanLimits: { attributeValueLengthLimit: LONGEST_ATTRIBUTE },
    spanProcessors: [processor],
  });
  const tracer = provider.getTracer('lapel', ownVersion());

  function begin(parent: SpanContext | undefined, name: string, beginning: Beginning): Span {
    const { kind, startedAt = clock.now(), attributes = {} } = beginning;
    const context = parent ? trace.setSpanContext(ROOT_CONTEXT, { ...parent, isRemote: true }) : ROOT_CONTEXT;
    const span = tracer.startSpan(name, { kind: KINDS[kind], startTime: timeOf(startedAt), attributes }, context);
    return {
      traceparent: textOf(span.spanContext()),
      end({ name: better, attributes: further, error } = {}): void {
        if (!span.isRecording()) return;
        if (better !== undefined) span.updateName(better);
        if (further) span.setAttributes(further);
        if (error !== undefined) span.setStatus({ code: SpanStatusCode.ERROR, message: error });
        metrics.spansRecorded.inc();
        span.end(timeOf(clock.now()));
      },
    };
  }

  return {
    request: (name, traceparent, beginning) =>
      begin(traceparent === undefined ? undefined : readTraceparent(traceparent), name, beginning),
    below(parent, name, beginning) {
      const context = parent === null ? undefined : readTraceparent(parent);
      return context && begin(context, name, beginning);
    },
    idle: () => provider.forceFlush().catch(() => undefined),
    async [Symbol.asyncDispose]() {
      const { promise, resolve } = Promise.withResolvers<void>();
      const cancel = setTimeout(resolve, LAST_EXPORT_MS);
      await Promise.race([provider.shutdown().catch(() => undefined), promise]);
      clearTimeout(cancel);
    },
  };
}
