/** The faults of a receiver, for webhooks and requests for upload URLs. */
export const RECEIVER_FAULTS = {
  fail: 'answers 503',
  slow: 'answers after three seconds',
  hang: 'never answers',
  'go-away': 'closes the connection without an answer',
  gone: 'answers 410: no further attempt may come, until the customer asks for redelivery at the end of the run',
  'too-many': 'answers 429 with `Retry-After: 10`',
  redirect: 'answers 307 with another URL, which it does not serve',
  'slow-body': 'takes the webhook, and sends the body of its answer at one byte a second',
} as const satisfies Record<string, string>;

export type ReceiverFault = keyof typeof RECEIVER_FAULTS;

/** A fault that a receiver plays for a share (0 to 1) of its requests. */
export interface PlayedFault {
  readonly fault: ReceiverFault;
  readonly share: number;
}

/** The seconds in `Retry-After` of a receiver that has too many requests. */
export const RETRY_AFTER_SECONDS = 10;
/** The path to which a receiver redirects. */
export const REDIRECTED = '/elsewhere';

/** The status and the headers of a fault that is an answer. */
export const REFUSALS: Partial<Record<ReceiverFault, { status: number; headers?: Record<string, string> }>> = {
  fail: { status: 503 },
  gone: { status: 410 },
  'too-many': { status: 429, headers: { 'retry-after': String(RETRY_AFTER_SECONDS) } },
  redirect: { status: 307, headers: { location: REDIRECTED } },
};

/** The fault for a request; `lot` is its random number, from 0 to 1. Null: none. */
export function faultOfLot(playing: readonly PlayedFault[], lot: number): ReceiverFault | null {
  let from = 0;
  for (const { fault, share } of playing) {
    if (lot < from + share) return fault;
    from += share;
  }
  return null;
}
