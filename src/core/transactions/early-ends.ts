import type { Metrics } from '../../metrics.ts';
import type { UnitOfWork } from '../../platform/database/sql.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Watch } from '../../runtime/watch.ts';
import type { createDeliveryMarks } from './delivery-marks.ts';
import { setEndsAt, setLate } from './expiry-repository.ts';
import { type EarlyEnd, endsAt, expiryOf } from './terms.ts';
import type { Late } from './transaction-record.ts';
import { deleteUnpublished, findTransaction, markDelivered, type TransactionRecord } from './transaction-repository.ts';

/** A device's acknowledgement of a transaction: the schema mqtt/ack. */
export interface Acknowledgement {
  transactionId: number;
  status: 'processing' | 'succeeded' | 'failed';
  progress?: number;
  result?: object;
  error?: { code?: string; message?: string };
}

/** Adds statements to the commit in which a device's result is kept that came after the service had ended the transaction. */
export type OnLate = (unit: UnitOfWork, record: TransactionRecord, late: Late) => Promise<void>;

/** The error of a device that names none. */
export const NO_REASON = { code: 'INTERNAL', message: 'the device gave no reason.' };

interface Parts {
  clock: Clock;
  metrics: Pick<Metrics, 'transactionsEndedEarly' | 'lateResults'>;
  watch: Watch;
  marks: Pick<ReturnType<typeof createDeliveryMarks>, 'take'>;
  /** Functions that are called in the unit of work that keeps a late result. */
  onLate: readonly OnLate[];
  /** Ends an unfinished transaction without an answer of the device. */
  stopIn(
    unit: UnitOfWork,
    record: TransactionRecord,
    end: Pick<TransactionRecord, 'status'> & Partial<TransactionRecord>,
  ): Promise<void>;
}

/** Ends transactions by a decision of the service, while the device may still carry out the command. */
export function createEarlyEnds({ clock, metrics, watch, marks, onLate, stopIn }: Parts) {
  /** Ends an unfinished transaction by a decision of the service. A result that the device sends later is kept. */
  async function endIn(
    unit: UnitOfWork,
    record: TransactionRecord,
    { status, code, message }: EarlyEnd,
    supersededBy: number | null = null,
  ): Promise<void> {
    await stopIn(unit, record, { status, errorCode: code, errorMessage: message, supersededBy, endedEarly: true });
    unit.onCommit(() => metrics.transactionsEndedEarly.inc({ code }));
  }

  /**
   * Ends a transaction if its time has passed. A command whose PUBACK is known in memory only counts as delivered. Only
   * the first of all ends counts, so a transaction that has ended stays as it is.
   */
  async function expireIn(unit: UnitOfWork, transactionId: number): Promise<void> {
    const record = await findTransaction(unit, transactionId);
    if (!record) return;
    const at = record.status === 'queued' ? marks.take(unit, transactionId) : null;
    if (at !== null) {
      markDelivered(unit, transactionId, at);
      unit.onCommit(() => {
        if (watch.transactions > 0) watch.transaction(transactionId);
      });
      return;
    }
    const end = expiryOf(record, clock.now());
    if (end) await endIn(unit, record, end);
    // A node of the former release may have changed the transaction, without the time of its end.
    else setEndsAt(unit, transactionId, endsAt(record));
  }

  /** Keeps the result that the device sent after the service itself had ended its transaction. */
  async function keepLateIn(unit: UnitOfWork, record: TransactionRecord, ack: Acknowledgement): Promise<void> {
    const { transactionId, errorCode } = record;
    const { status, result } = ack;
    if (!record.endedEarly || record.late !== null || status === 'processing') return;
    const error = status === 'failed' ? { ...NO_REASON, ...ack.error } : undefined;
    const late: Late = { status, at: clock.now(), ...(result && { result }), ...(error && { error }) };
    await setLate(unit, transactionId, late);
    for (const take of onLate) await take(unit, record, late);
    unit.onCommit(() => {
      metrics.lateResults.inc({ code: errorCode ?? 'CANCELLED' });
      if (watch.transactions > 0) watch.transaction(transactionId);
    });
  }

  /**
   * Takes back the command of a rollout that was never published: its transaction is deleted, since nobody was notified
   * of it. A command that was published stays, because its device may be carrying it out: with a second transaction it
   * would do so twice.
   */
  async function withdrawIn(unit: UnitOfWork, transactionId: number): Promise<'kept' | 'deleted'> {
    const record = await findTransaction(unit, transactionId);
    if (record?.status !== 'queued' || record.attempts > 0) return 'kept';
    await deleteUnpublished(unit, transactionId);
    return 'deleted';
  }

  return { endIn, expireIn, keepLateIn, withdrawIn };
}
