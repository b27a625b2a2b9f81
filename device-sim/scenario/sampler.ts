import type { Figures } from '../customer/figures.ts';
import { type HistogramData, percentile, upperBound } from '../histogram.ts';
import type { Latencies, Sample } from '../report/record.ts';
import { thinned } from '../report/samples.ts';
import type { Timers } from '../timers.ts';
import type { OwnLook } from './own-pace.ts';

const EVERY_MILLISECONDS = 1000;
/**
 * The most samples that are kept: more than two hours of seconds. Each time a run has more, every second sample is
 * dropped.
 */
const MOST_SAMPLES = 8000;

/** The durations that were counted after `before`, an earlier state of the same histogram. */
function since(now: HistogramData, before: HistogramData | undefined): Latencies | null {
  const had = new Map(before?.buckets);
  const buckets = now.buckets.flatMap(([bucket, count]) => {
    const more = count - (had.get(bucket) ?? 0);
    return more > 0 ? [[bucket, more] as const] : [];
  });
  const count = now.count - (before?.count ?? 0);
  if (count === 0) return null;
  const data = { count, sum: 0, min: 0, max: upperBound(buckets.at(-1)?.[0] ?? 0), buckets };
  return { p50: percentile(data, 0.5), p99: percentile(data, 0.99) };
}

/** Takes a sample once a second, until it is stopped. */
export function startSampling({
  began,
  timers,
  connected,
  figures,
  own,
}: {
  /** The start of the run. */
  began: number;
  timers: Timers;
  connected: () => number;
  figures: () => Figures | null;
  /** The slowness of the simulator since the last sample, and the longest delay of an action. */
  own: () => OwnLook & { behind: number };
}): { samples(): readonly Sample[]; stop(): void } {
  let samples: Sample[] = [];
  let before: Figures | null = null;
  let cancel = timers.after(EVERY_MILLISECONDS, tick);

  function tick(): void {
    const now = figures();
    samples.push({
      at: timers.now() - began,
      connected: connected(),
      accepted: now?.accepted ?? 0,
      settled: now ? now.succeeded + now.failed + now.cancelled : 0,
      unfinished: now ? now.accepted - now.succeeded - now.failed - now.cancelled : 0,
      errors: now?.errors ?? 0,
      delivered: now ? since(now.latency.delivered, before?.latency.delivered) : null,
      settledAfter: now ? since(now.latency.settled, before?.latency.settled) : null,
      ...own(),
    });
    before = now;
    if (samples.length > MOST_SAMPLES) samples = thinned(samples, MOST_SAMPLES / 2);
    cancel = timers.after(EVERY_MILLISECONDS, tick);
  }

  return { samples: () => samples, stop: () => cancel() };
}
