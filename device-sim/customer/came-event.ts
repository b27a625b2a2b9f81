import type { ReceivedWebhook } from './genuine.ts';
import type { Breached } from './ledger.ts';
import { markOf } from './result-book.ts';

/** An event as a webhook or a page of the stream has it. */
export interface CameEvent {
  readonly eventId: string;
  readonly type: string;
  readonly timestamp: string;
  readonly data: { readonly deviceId?: unknown; readonly transaction?: unknown };
  /** A service of a release without the stream gives no numbers. */
  readonly sequence?: number;
  readonly deviceSequence?: number | undefined;
}

/** The `deviceId` in events that no device has. */
const NO_DEVICE = '000000000000000';

/** The event of a webhook, whose id is that of the event in the stream. */
export const eventOf = ({ webhookId, event }: ReceivedWebhook): CameEvent => ({
  ...(event as Omit<CameEvent, 'eventId'>),
  eventId: webhookId,
});

/** The device and the transaction of an event. */
export function aboutEvent({ data: { deviceId, transaction } }: CameEvent): Breached {
  const { transactionId } = (transaction ?? {}) as { transactionId?: number };
  return {
    deviceId: typeof deviceId === 'string' && deviceId !== NO_DEVICE ? deviceId : '',
    ...(transactionId !== undefined && { transactionId }),
  };
}

/** The event in sentences. */
export const eventName = ({ sequence, type, deviceSequence }: CameEvent): string =>
  `event ${sequence} (${type}${deviceSequence === undefined ? '' : `, number ${deviceSequence} of its device`})`;

/** A hash of all that is the same wherever an event comes. */
export const contentOf = ({ eventId, type, timestamp, data, deviceSequence }: CameEvent): number =>
  markOf(JSON.stringify([eventId, deviceSequence ?? null, type, timestamp, data]));
