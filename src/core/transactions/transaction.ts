/** The states of a transaction, in the words of the interface. */
export const TRANSACTION_STATUSES = ['queued', 'delivered', 'processing', 'succeeded', 'failed', 'cancelled'] as const;
export type TransactionStatus = (typeof TRANSACTION_STATUSES)[number];

/** What moves a transaction: the device's PUBACK (`delivered`), its acknowledgements, the caller's or the service's cancel. */
export type TransactionEvent = Exclude<TransactionStatus, 'queued'>;

// Where each state may go. `processing` may repeat, because it carries the progress.
const ARROWS: Record<TransactionStatus, readonly TransactionEvent[]> = {
  queued: ['delivered', 'processing', 'succeeded', 'failed', 'cancelled'],
  delivered: ['processing', 'succeeded', 'failed', 'cancelled'],
  processing: ['processing', 'succeeded', 'failed', 'cancelled'],
  succeeded: [],
  failed: [],
  cancelled: [],
};

/**
 * The state machine: the next status, or null when the event changes nothing. Events only move forward; one that comes
 * late or again (devices repeat themselves) is not an error.
 */
export function nextStatus(status: TransactionStatus, event: TransactionEvent): TransactionStatus | null {
  return ARROWS[status].includes(event) ? event : null;
}

/** True in the three last states: nothing moves such a transaction any more, and its result event exists. */
export const isFinished = (status: TransactionStatus): status is FinishedStatus => ARROWS[status].length === 0;
export type FinishedStatus = 'succeeded' | 'failed' | 'cancelled';
