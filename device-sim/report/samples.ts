import type { Latencies, Sample } from './record.ts';

const worst = (some: readonly (Latencies | null)[]): Latencies | null => {
  const there = some.filter((one) => one !== null);
  if (there.length === 0) return null;
  return { p50: Math.max(...there.map(({ p50 }) => p50)), p99: Math.max(...there.map(({ p99 }) => p99)) };
};

/** Every n-th sample, at most `most`. Latencies are the highest of the samples in between, so that no peak is lost. */
export function thinned(samples: readonly Sample[], most: number): Sample[] {
  const each = Math.ceil(samples.length / most);
  if (each <= 1) return [...samples];
  return Array.from({ length: Math.ceil(samples.length / each) }, (_, place) => {
    const some = samples.slice(place * each, (place + 1) * each);
    return {
      ...some.at(-1)!,
      delivered: worst(some.map(({ delivered }) => delivered)),
      settledAfter: worst(some.map(({ settledAfter }) => settledAfter)),
    };
  });
}
