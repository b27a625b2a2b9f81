/** Seconds from a failed attempt to the next one (contract, section 3). After the tenth attempt there is no other. */
export const RETRY_DELAYS = [
  5, // at once again: a restart, a lost connection
  5 * 60,
  30 * 60,
  2 * 3600,
  5 * 3600,
  10 * 3600,
  14 * 3600,
  20 * 3600,
  24 * 3600,
] as const;

/** Each delay is up to so much shorter or longer, so that what failed together does not come back together. */
const JITTER = 0.2;
/** Seconds: a receiver may not put off an attempt for longer than the longest delay. */
export const LONGEST_RETRY_AFTER = 24 * 3600;

/** What came of one attempt: an answer, or why there was none. */
export interface Answer {
  statusCode: number | null;
  /** The text of the header, if there was one. */
  retryAfter: string | null;
  /** Why there was no answer, or no whole one; null when there was one. */
  error: string | null;
  /** Where the sender was told to read it. */
  body?: Buffer;
  /** How the answer began, where it was no 2xx. */
  beginning?: Buffer;
}

type Verdict =
  | { status: 'delivered' | 'gone' | 'exhausted'; nextAttemptAt: null }
  | { status: 'pending'; nextAttemptAt: number };

// The one form of HTTP-date that may be sent (RFC 9110 5.6.7); the two obsolete ones are not worth guessing at.
const HTTP_DATE = /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/** Seconds that a Retry-After (RFC 9110 10.2.3) asks to wait, within bounds; 0 for none and for nonsense. */
export function retryAfterSeconds(header: string | null, nowMicros: number): number {
  const text = header?.trim() ?? '';
  const seconds = /^\d+$/.test(text)
    ? Number(text)
    : HTTP_DATE.test(text)
      ? (Date.parse(text) * 1000 - nowMicros) / 1_000_000
      : 0;
  return Number.isNaN(seconds) ? 0 : Math.min(Math.max(seconds, 0), LONGEST_RETRY_AFTER);
}

/**
 * What becomes of a delivery: any 2xx delivers it and 410 stops it; everything else, redirects too, is tried again by
 * the table, later where Retry-After asks for it. `attempts` counts the one just made, `random` is in [0, 1).
 */
export function judge(answer: Answer, attempts: number, nowMicros: number, random: () => number): Verdict {
  const code = answer.statusCode ?? 0;
  if (code >= 200 && code < 300) return { status: 'delivered', nextAttemptAt: null };
  if (code === 410) return { status: 'gone', nextAttemptAt: null };
  const delay = RETRY_DELAYS[attempts - 1];
  if (delay === undefined) return { status: 'exhausted', nextAttemptAt: null };
  const jittered = delay * (1 + JITTER * (2 * random() - 1));
  const wait = Math.max(jittered, retryAfterSeconds(answer.retryAfter, nowMicros));
  return { status: 'pending', nextAttemptAt: nowMicros + Math.round(wait * 1_000_000) };
}
