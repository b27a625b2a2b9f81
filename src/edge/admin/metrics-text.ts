import type { Metrics } from '../../metrics.ts';
import type { Clock } from '../../runtime/clock.ts';

/**
 * Microseconds for which the written text of `/metrics` is sent again. It is shorter than any usual interval between
 * two scrapes, so that several scrapers share one text but none gets the same text twice.
 */
const KEPT_MICROS = 1_000_000;

interface Parts {
  clock: Clock;
  metrics: Pick<Metrics, 'registry'>;
  /** Sets the metrics whose values are looked up in the database and on the disk: lengths of queues, sizes of files. */
  survey(): Promise<void>;
  /**
   * True to send the text again for a second after it was written; false to share it only among simultaneous requests.
   */
  isKept: boolean;
}

/**
 * Makes the function that returns the text of `/metrics`. Collecting and writing all metrics takes as long as many API
 * calls. So the text is written for one request at a time, and at most once a second, however many requests come.
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
