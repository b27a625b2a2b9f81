/** What the books say about one transaction. Times are milliseconds of the timers of the run; null: not yet. */
export interface Entry {
  readonly transactionId: number;
  readonly deviceId: string;
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
  /** It is counted as lost. */
  lost: boolean;
  /** It is counted as doubled. */
  doubled: boolean;
}

export const newEntry = (transactionId: number, deviceId: string, at: number): Entry => ({
  transactionId,
  deviceId,
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
  lost: false,
  doubled: false,
});
