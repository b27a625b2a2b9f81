import type { TransactionRow } from '@lapel/schemas/contracts/types';
import type { Warning } from '../core/transactions/firmware-warning.ts';
import { termsBody } from '../core/transactions/terms-body.ts';
import type { TransactionSummary } from '../core/transactions/transaction-record.ts';
import { toUtc } from '../runtime/clock.ts';

const time = (micros: number | null): string | null => (micros === null ? null : toUtc(micros));

/** Makes the row of a transaction for lists and for the feed. */
export const transactionRow = (record: TransactionSummary, warning: Warning | null): TransactionRow => ({
  transactionId: record.transactionId,
  deviceId: record.deviceId,
  applicationId: record.applicationId,
  operation: record.operation,
  subject: record.subject,
  status: record.status,
  attempts: record.attempts,
  progress: record.progress,
  createdAt: toUtc(record.createdAt),
  publishedAt: time(record.publishedAt),
  deliveredAt: time(record.deliveredAt),
  updatedAt: toUtc(record.updatedAt),
  completedAt: time(record.completedAt),
  error: record.errorCode === null ? null : { code: record.errorCode, message: record.errorMessage ?? '' },
  warning,
  deliveryId: record.deliveryId,
  ...(record.rolloutId !== null && { rolloutId: record.rolloutId }),
  ...termsBody(record, toUtc),
});
