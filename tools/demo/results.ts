import { check, promised } from './check.ts';

/** The members of a webhook's body that the demo reads (schemas/webhooks/). */
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
    /** Present in events of devices. */
    eventId?: string;
  };
}

interface Received {
  /** The same in every attempt, so that a receiver can drop repetitions. */
  webhookId: string;
  notification: Notification;
}

type Result = NonNullable<Notification['data']['transaction']>;
type DeviceEvent = { readonly type: string; readonly data: Readonly<Record<string, unknown>> };

/** Keeps the result events by transaction, and the events of devices, as a developer's backend would. */
export function createResults() {
  const deviceEvents = new Map<string, DeviceEvent>();
  const eventWebhooks = new Map<string, Set<string>>();
  const watching = new Set<(event: DeviceEvent) => void>();
  const seen = new Set<string>();
  const webhookIds = new Map<number, Set<string>>();
  const results = new Map<number, Result>();
  const waiting = new Map<number, (result: Result) => void>();

  return {
    /** Whether a webhook with this id has arrived before; remembers the id. */
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
        const event = { type, data };
        deviceEvents.set(eventId, event);
        for (const watch of watching) watch(event);
      }
      if (!transaction) return;
      const { transactionId } = transaction;
      webhookIds.set(transactionId, (webhookIds.get(transactionId) ?? new Set()).add(webhookId));
      results.set(transactionId, transaction);
      waiting.get(transactionId)?.(transaction);
    },

    /**
     * Waits for the verified webhook with the result of a transaction; checks its status, and returns its error code or
     * null.
     */
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

    /** Waits for the verified webhook of a device's event; returns its data. */
    async expectEvent(type: string, belongs: (data: DeviceEvent['data']) => boolean): Promise<DeviceEvent['data']> {
      const { promise, resolve } = Promise.withResolvers<DeviceEvent>();
      const watch = (event: DeviceEvent): void => {
        if (event.type === type && belongs(event.data)) resolve(event);
      };
      watching.add(watch);
      for (const event of deviceEvents.values()) watch(event);
      const { data } = await promised(promise, `a verified webhook that says ${type}`);
      watching.delete(watch);
      return data;
    },
    /** The number of different webhooks of a device's event; any number but 1 is a fault of the service. */
    countOfEvent: (eventId: string): number => eventWebhooks.get(eventId)?.size ?? 0,

    has: (transactionId: number): boolean => results.has(transactionId),
    /**
     * The number of different webhooks with a result of the transaction; any number but 1 is a fault of the service.
     */
    count: (transactionId: number): number => webhookIds.get(transactionId)?.size ?? 0,
  };
}

export type Results = ReturnType<typeof createResults>;
