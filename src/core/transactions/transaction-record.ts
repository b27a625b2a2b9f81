import type { Operation } from './operations.ts';
import type { TransactionStatus } from './transaction.ts';

export interface TransactionRecord {
  transactionId: number;
  deviceId: string;
  applicationId: string;
  operation: Operation;
  status: TransactionStatus;
  /** How many connections of the device it was, or is about to be, published on. */
  attempts: number;
  /** All times are microseconds since the epoch. */
  createdAt: number;
  updatedAt: number;
  deliveredAt: number | null;
  completedAt: number | null;
  /** 0 to 100, as the device last said. */
  progress: number | null;
  result: object | null;
  errorCode: string | null;
  errorMessage: string | null;
  /** When it was first published, or taken to be. */
  publishedAt: number | null;
  /** What it is about, in words without secrets; its parameters go when it ends. */
  subject: string | null;
  /** The webhook of its end. */
  deliveryId: string | null;
}

/** Without what can be large. */
export type TransactionSummary = Omit<TransactionRecord, 'result'>;

/** As the database has it. */
export type TransactionRow = Omit<TransactionRecord, 'result'> & { result: string | null };

export const SUMMARY_COLUMNS = `transaction_id AS "transactionId", device_id AS "deviceId", application_id AS "applicationId", operation,
  status, attempts, created_at AS "createdAt", updated_at AS "updatedAt", delivered_at AS "deliveredAt",
  completed_at AS "completedAt", progress, error_code AS "errorCode", error_message AS "errorMessage",
  published_at AS "publishedAt", subject, delivery_id AS "deliveryId"`;
export const COLUMNS = `${SUMMARY_COLUMNS}, result`;

export const toRecord = (row: TransactionRow): TransactionRecord => ({
  ...row,
  result: row.result === null ? null : (JSON.parse(row.result) as object),
});

/** The same; its result is parsed when it is asked for, because a page of them is made slice by slice. */
export const toListed = ({ result, ...row }: TransactionRow): TransactionRecord => ({
  ...row,
  get result() {
    return result === null ? null : (JSON.parse(result) as object);
  },
});
