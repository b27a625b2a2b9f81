import { canExpire } from './terms.ts';
import { lateBody, termsBody } from './terms-body.ts';
import type { TransactionRecord } from './transaction-repository.ts';

/** The transaction record of the interface. `formatTime` formats the times (local in REST, UTC in webhooks). */
export function transactionBody(record: TransactionRecord, formatTime: (micros: number) => string) {
  const time = (micros: number | null): string | null => (micros === null ? null : formatTime(micros));
  const body = {
    transactionId: record.transactionId,
    deviceId: record.deviceId,
    operation: record.operation,
    status: record.status,
    attempts: record.attempts,
    createdAt: formatTime(record.createdAt),
    updatedAt: formatTime(record.updatedAt),
    deliveredAt: time(record.deliveredAt),
    completedAt: time(record.completedAt),
    progress: record.progress,
    result: record.result,
    error: record.errorCode === null ? null : { code: record.errorCode, message: record.errorMessage ?? '' },
  };
  // Most transactions have none of this, and their body costs nothing more.
  return canExpire(record) || record.endedEarly || record.rolloutId !== null
    ? {
        ...body,
        ...(record.rolloutId !== null && { rolloutId: record.rolloutId }),
        ...termsBody(record, formatTime),
        ...lateBody(record, formatTime),
      }
    : body;
}
