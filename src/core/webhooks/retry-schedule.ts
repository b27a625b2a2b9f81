import type { Micros } from '../../runtime/units.ts';

/** Seconds from a failed attempt to the next one (contract, section 3). The tenth attempt is the last. */
export const RETRY_DELAY_SECONDS = [
  5, // soon, after a restart of the receiver or a lost connection
  5 * 60,
  30 * 60,
  2 * 3600,
  5 * 3600,
  10 * 3600,
  14 * 3600,
  20 * 3600,
  24 * 3600,
] as const;

/** Each delay is varied by up to this fraction, so that deliveries that failed together are not repeated together. */
const JITTER = 0.2;
/** Seconds: Retry-After cannot delay an attempt by more than the longest delay of the schedule. */
export const LONGEST_RETRY_AFTER_SECONDS = 24 * 3600;

/** No attempt is later than this after the one before. */
export const LATEST_ATTEMPT_MICROS = LONGEST_RETRY_AFTER_SECONDS * (1 + JITTER) * 1_000_000;

/** The result of one attempt: an answer, or the reason why there was none. */
export interface Answer {
  statusCode: number | null;
  /** The Retry-After header, or null. */
  retryAfter: string | null;
  /** The reason why there was no answer, or no complete one; null when there was one. */
  error: string | null;
  /** The body of the answer; present only if the caller has asked for it (`readsAnswer`). */
  body?: Buffer;
  /** The first bytes of the answer's body; present only if the status is not 2xx. */
  beginning?: Buffer;
}

type DeliveryVerdict =
  | { status: 'delivered' | 'gone' | 'exhausted'; nextAttemptAt: null }
  | { status: 'pending'; nextAttemptAt: number };

// The only form of HTTP-date that may be sent (RFC 9110 5.6.7); the two obsolete forms are not supported.
const HTTP_DATE = /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/**
 * The seconds that a Retry-After (RFC 9110 10.2.3) asks to wait, within bounds; 0 when it is missing or malformed. `wall`:
 * the time of the machine, because a date in it comes from another clock.
 */
export function retryAfterSeconds(header: string | null, wall: Micros): number {
  const text = header?.trim() ?? '';
  const seconds = /^\d+$/.test(text)
    ? Number(text)
    : HTTP_DATE.test(text)
      ? (Date.parse(text) * 1000 - wall) / 1_000_000
      : 0;
  return Number.isNaN(seconds) ? 0 : Math.min(Math.max(seconds, 0), LONGEST_RETRY_AFTER_SECONDS);
}

/**
 * Decides on a delivery after an attempt: a 2xx delivers it, 410 ends it, and everything else, redirects included, is tried
 * again by the schedule, or later if Retry-After asks for it. `attempts` includes the one just made; `random` is in [0, 1).
 */
export function judge(
  answer: Answer,
  attempts: number,
  { now, wall }: { now: Micros; wall: Micros },
  random: () => number,
): DeliveryVerdict {
  const code = answer.statusCode ?? 0;
  if (code >= 200 && code < 300) return { status: 'delivered', nextAttemptAt: null };
  if (code === 410) return { status: 'gone', nextAttemptAt: null };
  const delay = RETRY_DELAY_SECONDS[attempts - 1];
  if (delay === undefined) return { status: 'exhausted', nextAttemptAt: null };
  const jittered = delay * (1 + JITTER * (2 * random() - 1));
  const wait = Math.max(jittered, retryAfterSeconds(answer.retryAfter, wall));
  return { status: 'pending', nextAttemptAt: now + Math.round(wait * 1_000_000) };
}
