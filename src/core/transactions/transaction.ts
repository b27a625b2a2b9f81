/** The states of a transaction, in the words of the interface. */
export const TRANSACTION_STATUSES = ['queued', 'delivered', 'processing', 'succeeded', 'failed', 'cancelled'] as const;
export type TransactionStatus = (typeof TRANSACTION_STATUSES)[number];

/**
 * The events that move a transaction: the device's PUBACK (`delivered`), its acknowledgements, a cancel, a failure that the
 * service finds.
 */
export type TransactionEvent = Exclude<TransactionStatus, 'queued'>;

// The events that each state accepts. `processing` may repeat, because it reports progress.
const ARROWS: Record<TransactionStatus, readonly TransactionEvent[]> = {
  queued: ['delivered', 'processing', 'succeeded', 'failed', 'cancelled'],
  delivered: ['processing', 'succeeded', 'failed', 'cancelled'],
  processing: ['processing', 'succeeded', 'failed', 'cancelled'],
  succeeded: [],
  failed: [],
  cancelled: [],
};

/**
 * The state machine: returns the next status, or null when the event changes nothing. Events only move forward; a late or
 * repeated event is not an error, because devices repeat their messages.
 */
export function nextStatus(status: TransactionStatus, event: TransactionEvent): TransactionStatus | null {
  return ARROWS[status].includes(event) ? event : null;
}

/** Whether the transaction has reached a final state: nothing changes it any more, and its result event exists. */
export const isFinished = (status: TransactionStatus): status is FinishedStatus => ARROWS[status].length === 0;
export type FinishedStatus = 'succeeded' | 'failed' | 'cancelled';
