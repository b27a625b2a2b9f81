import { DomainError, type ErrorCode } from '@lapel/schemas/contracts/errors';
import type { TransactionRecord } from './transaction-repository.ts';

/** The most cancels in progress at a time; they share commits. */
const AT_ONCE = 100;

interface Parts {
  /** Finds a transaction of any application. Throws TRANSACTION_NOT_FOUND. */
  find(transactionId: number): Promise<{ record: Pick<TransactionRecord, 'applicationId' | 'deviceId'> }>;
  /** Cancels as the application itself does. Throws TRANSACTION_NOT_FOUND, TRANSACTION_FINISHED. */
  cancel(applicationId: string, deviceId: string, transactionId: number): Promise<void>;
}

interface Cancelled {
  transactionId: number;
  cancelled: boolean;
  /** The reason why the transaction was not cancelled. */
  code?: ErrorCode;
}

export type Cancellation = ReturnType<typeof createCancellation>;

/**
 * Cancels transactions by administration, on behalf of the applications that made them. The applications are notified.
 */
export function createCancellation({ find, cancel }: Parts) {
  /** Cancels one transaction. Throws TRANSACTION_NOT_FOUND, TRANSACTION_FINISHED. */
  async function one(transactionId: number): Promise<void> {
    const { record } = await find(transactionId);
    await cancel(record.applicationId, record.deviceId, transactionId);
  }

  async function cancelAndReport(transactionId: number): Promise<Cancelled> {
    try {
      await one(transactionId);
      return { transactionId, cancelled: true };
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      return { transactionId, cancelled: false, code: error.code };
    }
  }

  return {
    one,

    /** Cancels each transaction by itself, once; returns the results in the given order. */
    async each(transactionIds: readonly number[]): Promise<Cancelled[]> {
      const results = new Map<number, Cancelled>();
      const distinct = [...new Set(transactionIds)];
      for (let start = 0; start < distinct.length; start += AT_ONCE) {
        const some = await Promise.all(distinct.slice(start, start + AT_ONCE).map(cancelAndReport));
        for (const result of some) results.set(result.transactionId, result);
      }
      return transactionIds.flatMap((transactionId) => results.get(transactionId) ?? []);
    },
  };
}
