import { createMetrics } from '../../src/metrics.ts';

/**
 * The metrics of the process and of Prometheus itself that rules and dashboards use. They exist only in a process of
 * their own, so `npm run try -- alerts` compares them with the answer of a real one.
 */
export const PROCESS_METRICS: ReadonlySet<string> = new Set([
  'up',
  'ALERTS',
  'nodejs_eventloop_lag_p99_seconds',
  'nodejs_heap_size_used_bytes',
  'process_cpu_seconds_total',
  'process_max_fds',
  'process_open_fds',
  'process_resident_memory_bytes',
  'process_start_time_seconds',
]);

/** The names of the series of the service, each with its labels. */
export function knownMetrics(): Map<string, ReadonlySet<string>> {
  const metrics = createMetrics().registry.getMetricsAsArray() as unknown as {
    name: string;
    type: string;
    labelNames?: string[];
  }[];
  return new Map(
    metrics.flatMap(({ name, type, labelNames = [] }): [string, ReadonlySet<string>][] => {
      const labels = [...labelNames, 'job', 'instance'];
      if (type !== 'histogram') return [[name, new Set(labels)]];
      return ['bucket', 'sum', 'count'].map((part) => [`${name}_${part}`, new Set([...labels, 'le'])]);
    }),
  );
}
