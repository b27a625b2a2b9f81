import type { Metrics } from '../../metrics.ts';
import type { Clock } from '../../runtime/clock.ts';

/** Microseconds for which a text is kept: nobody scrapes more often, and a second scraper costs nothing. */
const KEPT = 1_000_000;

interface Parts {
  clock: Clock;
  metrics: Pick<Metrics, 'registry'>;
  /** Brings the metrics of queues and sizes up to date. */
  survey(): Promise<void>;
  /** Whether a text is kept; else only those who ask at once get the same. */
  isKept: boolean;
}

/**
 * What `/metrics` answers. To gather all figures and to write them takes as long as many calls do: it is done by one at a
 * time, and once a second at most, however many ask.
 */
export function createMetricsText({ clock, metrics: { registry }, survey, isKept }: Parts): () => Promise<string> {
  let text = '';
  let writtenAt = Number.NEGATIVE_INFINITY;
  let writing: Promise<string> | undefined;

  async function write(): Promise<string> {
    try {
      await survey();
      text = await registry.metrics();
      writtenAt = clock.now();
      return text;
    } finally {
      writing = undefined;
    }
  }

  return async () => {
    if (isKept && clock.now() - writtenAt < KEPT) return text;
    writing ??= write();
    return writing;
  };
}
