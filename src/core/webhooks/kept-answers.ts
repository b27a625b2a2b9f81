import type { Metrics } from '../../metrics.ts';
import type { Clock } from '../../runtime/clock.ts';
import { createTokenBuckets } from '../../runtime/token-buckets.ts';
import type { ReceiverName } from './delivery.ts';

/** Bytes of answers that are kept for an application at once, and as many more a day: its receivers decide how long they are. */
export const ANSWER_BYTES = 4 * 1024 * 1024;
const DAY_SECONDS = 86_400;

/** Bytes of an answer as text: what is no UTF-8 becomes U+FFFD, and a character that was cut at the end is left out. */
const textOf = (bytes: Buffer | undefined): string | null =>
  bytes === undefined ? null : new TextDecoder().decode(bytes, { stream: true });

/** The beginnings of receivers' answers to failed attempts, of each application as many as there is room for. */
export function createKeptAnswers({ clock, metrics }: { clock: Clock; metrics: Pick<Metrics, 'answersDropped'> }) {
  const room = createTokenBuckets({ clock, perSecond: ANSWER_BYTES / DAY_SECONDS, size: ANSWER_BYTES });

  /** How an answer began, as text; null when there was none, or there is no room for it. */
  return ({ applicationId }: ReceiverName, beginning: Buffer | undefined): string | null => {
    if (beginning === undefined || room.take(applicationId, beginning.length)?.allowed !== false)
      return textOf(beginning);
    metrics.answersDropped.inc();
    return null;
  };
}
