import { monitorEventLoopDelay } from 'node:perf_hooks';

/** Milliseconds between two looks. */
const RESOLUTION = 10;

/** How late the event loop is. It is about the process, not the domain, so it is no business of the injected clock. */
export function watchLoopDelay() {
  const histogram = monitorEventLoopDelay({ resolution: RESOLUTION });
  histogram.enable();

  return {
    /** Microseconds that 99 of 100 looks since the last call were late at most; null when there was none. */
    take(): number | null {
      if (histogram.count === 0) return null;
      const late = Math.max(0, Math.round(histogram.percentile(99) / 1000) - RESOLUTION * 1000);
      histogram.reset();
      return late;
    },
    stop: (): void => void histogram.disable(),
  };
}
