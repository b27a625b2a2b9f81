import type { Metrics } from '../../metrics.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import { NO_TRACING, type Tracing } from '../../runtime/tracing.ts';
import type { TracingTarget } from '../../runtime/tracing-target.ts';

export interface TracingParts {
  clock: Clock;
  log: Log;
  metrics: Metrics;
}

/** Opens the export of spans. The libraries for it are loaded only when there is a target. */
export async function openTracing(target: TracingTarget, parts: TracingParts): Promise<Tracing> {
  if (target === null) return NO_TRACING;
  const { createTelemetry } = await import('./telemetry.ts');
  return createTelemetry(target, parts);
}
