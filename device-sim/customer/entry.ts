/** What the books say about one transaction. Times are milliseconds of the timers of the run; null: not yet. */
export interface Entry {
  readonly transactionId: number;
  /** The one that was asked; before the 201 the one that was heard of first. */
  deviceId: string;
  /** With the transactionId it is the identity of its command; null while no device has got it. */
  issuedAt: string | null;
  operation: string;
  /** Of the action that caused it; null while its 201 has not been seen. */
  phase: string | null;
  number: number | undefined;
  requestedAt: number;
  acceptedAt: number | null;
  deliveredAt: number | null;
  /** Of the last delivery. */
  attempt: number;
  answeredAt: number | null;
  answer: string | null;
  acknowledgedAt: number | null;
  /** On which connection of its device, counted. */
  acknowledgedOn: number;
  result: { status: string; code: string | null; webhookId: string; body: number; at: number } | null;
  /** What other devices than the one that was asked had to do with it. */
  elsewhere: { readonly at: number; readonly deviceId: string; readonly text: string }[];
  /** That is counted as a violation. */
  strayed: boolean;
  /** The mark of the webhook of an earlier transaction with the same id; 0: there was none. */
  former: number;
  /** It is counted as lost. */
  lost: boolean;
  /** It is counted as doubled. */
  doubled: boolean;
}

export const newEntry = (transactionId: number, deviceId: string, at: number): Entry => ({
  transactionId,
  deviceId,
  issuedAt: null,
  operation: '',
  phase: null,
  number: undefined,
  requestedAt: at,
  acceptedAt: null,
  deliveredAt: null,
  attempt: 0,
  answeredAt: null,
  answer: null,
  acknowledgedAt: null,
  acknowledgedOn: 0,
  result: null,
  elsewhere: [],
  strayed: false,
  former: 0,
  lost: false,
  doubled: false,
});
