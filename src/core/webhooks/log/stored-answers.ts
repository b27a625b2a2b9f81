import type { Metrics } from '../../../metrics.ts';
import type { Clock } from '../../../runtime/clock.ts';
import { createTokenBuckets } from '../../../runtime/token-buckets.ts';
import type { ReceiverName } from '../delivery.ts';

/**
 * Bytes of answers that are stored for an application at once, and as many again per day, because its receivers choose their
 * length.
 */
export const ANSWER_BYTES = 4 * 1024 * 1024;
const DAY_SECONDS = 86_400;

/** Bytes of an answer as text: invalid UTF-8 becomes U+FFFD, and a character that is cut at the end is left out. */
const textOf = (bytes: Buffer | undefined): string | null =>
  bytes === undefined ? null : new TextDecoder().decode(bytes, { stream: true });

/** Bounds the stored beginnings of receivers' answers to failed attempts and to tests, by application. */
export function createStoredAnswers({ clock, metrics }: { clock: Clock; metrics: Pick<Metrics, 'answersDropped'> }) {
  const room = createTokenBuckets({ clock, perSecond: ANSWER_BYTES / DAY_SECONDS, size: ANSWER_BYTES });

  /** The beginning of an answer as text; null when there was none, or the application's bound is reached. */
  return ({ applicationId }: ReceiverName, beginning: Buffer | undefined): string | null => {
    if (beginning === undefined || room.take(applicationId, beginning.length)?.allowed !== false)
      return textOf(beginning);
    metrics.answersDropped.inc();
    return null;
  };
}
