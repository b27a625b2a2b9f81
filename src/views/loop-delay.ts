import { monitorEventLoopDelay } from 'node:perf_hooks';

/** Milliseconds between two measurements. */
const RESOLUTION = 10;

/**
 * Measures the delay of the event loop. This is a property of the process and must be measured in real time, so the
 * clock that tests can set is not used.
 */
export function watchLoopDelay() {
  const histogram = monitorEventLoopDelay({ resolution: RESOLUTION });
  histogram.enable();

  return {
    /**
     * The delay since the last call that 99 of 100 measurements did not exceed, in microseconds; null without a
     * measurement.
     */
    take(): number | null {
      if (histogram.count === 0) return null;
      const late = Math.max(0, Math.round(histogram.percentile(99) / 1000) - RESOLUTION * 1000);
      histogram.reset();
      return late;
    },
    stop: (): void => void histogram.disable(),
  };
}
