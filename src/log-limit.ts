import type { Clock } from './clock.ts';

// Of one source a line in this time.
const PERIOD_MICROSECONDS = 60_000_000;
/** Sources told apart at a time; all others share one line. */
export const KEPT_SOURCES = 1_000;

export type LogLimit = ReturnType<typeof createLogLimit>;

/**
 * Keeps what anybody can cause from filling the log: one line a minute for each source (a device, an address). The
 * answer is undefined when nothing may be logged now, else how many lines of that source were left out since its last
 * one. Above KEPT_SOURCES within a minute the further ones are one source, so there are never more lines than that.
 */
export function createLogLimit({ clock }: { clock: Pick<Clock, 'now'> }) {
  // In the order of their last lines.
  const sources = new Map<string, { at: number; leftOut: number }>();
  const others = { at: Number.NEGATIVE_INFINITY, leftOut: 0 };

  function forgetQuiet(now: number): void {
    for (const [key, { at }] of sources) {
      if (now - at < PERIOD_MICROSECONDS) return;
      sources.delete(key);
    }
  }

  return (key: string): number | undefined => {
    const now = clock.now();
    const known = sources.get(key);
    if (!known && sources.size >= KEPT_SOURCES) forgetQuiet(now);
    const source = known ?? (sources.size < KEPT_SOURCES ? { at: Number.NEGATIVE_INFINITY, leftOut: 0 } : others);
    if (now - source.at < PERIOD_MICROSECONDS) {
      source.leftOut += 1;
      return undefined;
    }
    const { leftOut } = source;
    source.at = now;
    source.leftOut = 0;
    if (source !== others) {
      sources.delete(key);
      sources.set(key, source);
    }
    return leftOut;
  };
}
