import { check, promised } from './check.ts';

/** The part of a webhook's body that the demo looks at (schemas/webhooks/). */
interface Notification {
  type: string;
  data: {
    deviceId: string;
    transaction?: {
      transactionId: number;
      operation: string;
      status: string;
      result: Record<string, unknown> | null;
      error: { code: string } | null;
    };
    /** Of things that happen on devices. */
    eventId?: string;
  };
}

interface Received {
  /** The same in every attempt: a receiver drops repetitions by it. */
  webhookId: string;
  notification: Notification;
}

type Result = NonNullable<Notification['data']['transaction']>;
type Happening = { readonly type: string; readonly data: Readonly<Record<string, unknown>> };

/** The result events by transaction and the events of devices, as a developer's backend would keep them. */
export function createResults() {
  const happenings = new Map<string, Happening>();
  const eventWebhooks = new Map<string, Set<string>>();
  const watching = new Set<(happening: Happening) => void>();
  const seen = new Set<string>();
  const webhookIds = new Map<number, Set<string>>();
  const results = new Map<number, Result>();
  const waiting = new Map<number, (result: Result) => void>();

  return {
    /** Whether it is a repetition of one that came before. */
    isRepeated(webhookId: string): boolean {
      const repeated = seen.has(webhookId);
      seen.add(webhookId);
      return repeated;
    },

    add({ webhookId, notification }: Received): void {
      const { type, data } = notification;
      const { transaction, eventId } = data;
      if (eventId !== undefined) {
        eventWebhooks.set(eventId, (eventWebhooks.get(eventId) ?? new Set()).add(webhookId));
        const happening = { type, data };
        happenings.set(eventId, happening);
        for (const look of watching) look(happening);
      }
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

    /** The `result` of a transaction that has succeeded. */
    resultOf: (transactionId: number): Readonly<Record<string, unknown>> => results.get(transactionId)?.result ?? {},

    /** Waits for the verified webhook of something that happened on a device; gives its data. */
    async expectEvent(type: string, belongs: (data: Happening['data']) => boolean): Promise<Happening['data']> {
      const { promise, resolve } = Promise.withResolvers<Happening>();
      const look = (happening: Happening): void => {
        if (happening.type === type && belongs(happening.data)) resolve(happening);
      };
      watching.add(look);
      for (const happening of happenings.values()) look(happening);
      const { data } = await promised(promise, `a verified webhook that says ${type}`);
      watching.delete(look);
      return data;
    },
    /** How many webhooks an event has: one, or something is wrong. */
    countOfEvent: (eventId: string): number => eventWebhooks.get(eventId)?.size ?? 0,

    has: (transactionId: number): boolean => results.has(transactionId),
    /** How many result events a transaction has: one, or something is wrong. */
    count: (transactionId: number): number => webhookIds.get(transactionId)?.size ?? 0,
  };
}

export type Results = ReturnType<typeof createResults>;
