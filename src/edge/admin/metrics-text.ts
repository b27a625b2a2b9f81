import type { Metrics } from '../../metrics.ts';
import type { Clock } from '../../runtime/clock.ts';

/**
 * Microseconds for which a text is kept. It is shorter than any usual interval of scrapes, so that several scrapers
 * share one text.
 */
const KEPT_MICROS = 1_000_000;

interface Parts {
  clock: Clock;
  metrics: Pick<Metrics, 'registry'>;
  /** Brings the metrics of queues and sizes up to date. */
  survey(): Promise<void>;
  /** True to keep the text for a moment; false to share it between simultaneous requests only. */
  isKept: boolean;
}

/**
 * Writes the text of `/metrics`. Collecting and writing all figures takes as long as many API calls, so it is done by
 * one request at a time, and at most once a second however many ask.
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
    if (isKept && clock.now() - writtenAt < KEPT_MICROS) return text;
    writing ??= write();
    return writing;
  };
}
