import { check, promised } from './check.ts';
import type { Received } from './webhook-receiver.ts';

/** The result events by transaction, as a developer's backend would keep them. */
export function createResults() {
  const webhookIds = new Map<number, Set<string>>();
  const statuses = new Map<number, string>();
  const waiting = new Map<number, (status: string) => void>();

  return {
    add({ webhookId, notification }: Received): void {
      const { transaction } = notification.data;
      if (!transaction) return;
      const { transactionId, status } = transaction;
      webhookIds.set(transactionId, (webhookIds.get(transactionId) ?? new Set()).add(webhookId));
      statuses.set(transactionId, status);
      waiting.get(transactionId)?.(status);
    },

    /** Waits for the verified result event of a transaction. */
    async expect(transactionId: number, status: string): Promise<void> {
      const { promise, resolve } = Promise.withResolvers<string>();
      waiting.set(transactionId, resolve);
      const known = statuses.get(transactionId);
      const got =
        known ?? (await promised(promise, `a verified webhook with the result of transaction ${transactionId}`));
      check(got === status, `transaction ${transactionId} ends as ${status}, not as ${got}`);
    },

    has: (transactionId: number): boolean => statuses.has(transactionId),
    /** How many result events a transaction has: one, or something is wrong. */
    count: (transactionId: number): number => webhookIds.get(transactionId)?.size ?? 0,
  };
}

export type Results = ReturnType<typeof createResults>;
