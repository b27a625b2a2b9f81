/** The faults of a receiver, for webhooks and requests for upload URLs. */
export const RECEIVER_FAULTS = {
  fail: 'answers 503',
  slow: 'answers after three seconds',
  hang: 'never answers',
  'go-away': 'closes the connection without an answer',
} as const satisfies Record<string, string>;

export type ReceiverFault = keyof typeof RECEIVER_FAULTS;
