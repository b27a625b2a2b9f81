import { parseExact } from '@lapel/schemas/base/exact-json';
import type { Micros } from '../../runtime/units.ts';
import type { Operation } from './operations.ts';
import type { StoredTerms } from './terms.ts';
import type { TransactionStatus } from './transaction.ts';

export interface TransactionRecord extends StoredTerms {
  transactionId: number;
  deviceId: string;
  applicationId: string;
  operation: Operation;
  status: TransactionStatus;
  /** The number of the device's connections on which it was published, or is about to be. */
  attempts: number;
  /** All times are microseconds since the epoch. */
  createdAt: Micros;
  updatedAt: Micros;
  deliveredAt: Micros | null;
  completedAt: Micros | null;
  /** 0 to 100, as the device last reported. */
  progress: number | null;
  result: object | null;
  errorCode: string | null;
  errorMessage: string | null;
  /** The time at which it was first published, or claimed to be. */
  publishedAt: Micros | null;
  /**
   * The short description of the command that people see. It has no secrets, so it is kept when the parameters are
   * deleted at the transaction's end.
   */
  subject: string | null;
  /** The webhook that reports the end of the transaction. */
  deliveryId: string | null;
  /** The rollout that made it; null without one. */
  rolloutId: string | null;
  /** The span of the request that made it, for the spans of all that follows; null when it is not traced. */
  traceparent: string | null;
  /** The transaction that took the place of this one. */
  supersededBy: number | null;
  /**
   * Whether the service itself has ended the transaction, while the device may be carrying out its command. Only then a
   * result that the device sends after the end is kept.
   */
  endedEarly: boolean;
  /** That result as JSON (`Late`); null while there is none. */
  late: string | null;
}

/** The result that a device sent after the service itself had ended the transaction. */
export interface Late {
  status: 'succeeded' | 'failed';
  at: Micros;
  result?: object;
  error?: { code: string; message: string };
}

export const lateOf = ({ late }: Pick<TransactionRecord, 'late'>): Late | null =>
  late === null ? null : (parseExact(late) as Late);

/** A record without its results, which can be large. */
export type TransactionSummary = Omit<TransactionRecord, 'result' | 'endedEarly' | 'late'>;

/**
 * A record in the form of the database's columns. One column says both `endedEarly` and `late`: an empty text stands for an
 * early end without a result. A column for each would need a release whose nodes write both forms, because nodes of the
 * release before know only this one, and would drop the results.
 */
export type TransactionRow = Omit<TransactionRecord, 'result' | 'endedEarly'> & { result: string | null };

export const SUMMARY_COLUMNS = `transaction_id AS "transactionId", device_id AS "deviceId", application_id AS "applicationId", operation,
  status, attempts, created_at AS "createdAt", updated_at AS "updatedAt", delivered_at AS "deliveredAt",
  completed_at AS "completedAt", progress, error_code AS "errorCode", error_message AS "errorMessage",
  published_at AS "publishedAt", subject, delivery_id AS "deliveryId", expires_at AS "expiresAt",
  answer_within AS "answerWithin", superseded_by AS "supersededBy", rollout_id AS "rolloutId", traceparent`;
export const COLUMNS = `${SUMMARY_COLUMNS}, result, late`;

export const toRecord = (row: TransactionRow): TransactionRecord => ({
  ...row,
  result: row.result === null ? null : (parseExact(row.result) as object),
  endedEarly: row.late !== null,
  late: row.late === '' ? null : row.late,
});

/**
 * Like `toRecord`, but the text of the result is parsed only when `result` is read. The results of a page can be long;
 * the answer is written in small parts, so that each takes little time.
 */
export const toListed = ({ result, late, ...row }: TransactionRow): TransactionRecord => ({
  ...row,
  endedEarly: late !== null,
  late: late === '' ? null : late,
  get result() {
    return result === null ? null : (parseExact(result) as object);
  },
});
