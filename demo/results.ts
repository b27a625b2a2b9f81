import { check, promised } from './check.ts';
import type { Notification, Received } from './webhook-receiver.ts';

type Result = NonNullable<Notification['data']['transaction']>;

/** The result events by transaction, as a developer's backend would keep them. */
export function createResults() {
  const webhookIds = new Map<number, Set<string>>();
  const results = new Map<number, Result>();
  const waiting = new Map<number, (result: Result) => void>();

  return {
    add({ webhookId, notification }: Received): void {
      const { transaction } = notification.data;
      if (!transaction) return;
      const { transactionId } = transaction;
      webhookIds.set(transactionId, (webhookIds.get(transactionId) ?? new Set()).add(webhookId));
      results.set(transactionId, transaction);
      waiting.get(transactionId)?.(transaction);
    },

    /** Waits for the verified result event of a transaction; gives its error code, when it has one. */
    async expect(transactionId: number, status: string): Promise<string | null> {
      const { promise, resolve } = Promise.withResolvers<Result>();
      waiting.set(transactionId, resolve);
      const known = results.get(transactionId);
      const got =
        known ?? (await promised(promise, `a verified webhook with the result of transaction ${transactionId}`));
      check(got.status === status, `transaction ${transactionId} ends as ${status}, not as ${got.status}`);
      return got.error?.code ?? null;
    },

    has: (transactionId: number): boolean => results.has(transactionId),
    /** How many result events a transaction has: one, or something is wrong. */
    count: (transactionId: number): number => webhookIds.get(transactionId)?.size ?? 0,
  };
}

export type Results = ReturnType<typeof createResults>;
