import { monitorEventLoopDelay } from 'node:perf_hooks';

/** Milliseconds between two measurements. */
const RESOLUTION = 10;

/**
 * Measures the delay of the event loop. It concerns the process and not the domain, so the injected clock is not used.
 */
export function watchLoopDelay() {
  const histogram = monitorEventLoopDelay({ resolution: RESOLUTION });
  histogram.enable();

  return {
    /** The 99th percentile of the delay since the last call, in microseconds; null when there was no measurement. */
    take(): number | null {
      if (histogram.count === 0) return null;
      const late = Math.max(0, Math.round(histogram.percentile(99) / 1000) - RESOLUTION * 1000);
      histogram.reset();
      return late;
    },
    stop: (): void => void histogram.disable(),
  };
}
