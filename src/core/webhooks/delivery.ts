import type { URL_SETTINGS } from '@lapel/schemas/contracts/values';
import type { Micros } from '../../runtime/units.ts';

/** The settings of an application that hold URLs. An application and a setting make a receiver. */
export type UrlSetting = keyof typeof URL_SETTINGS;

/** The deviceId in a webhook that concerns no device; no device has this IMEI. */
export const NO_DEVICE = '000000000000000';

/** The identifier of an endpoint of an application. */
export type EndpointId = `ep_${string}`;

/** The URL of a setting of an application, as a receiver. */
export interface SettingReceiver {
  applicationId: string;
  setting: UrlSetting;
}

/** A receiver: the URL of a setting of an application, or an endpoint of it, whose identifier is then its `setting`. */
export interface ReceiverName {
  applicationId: string;
  setting: UrlSetting | EndpointId;
}

export const isEndpoint = (setting: string): setting is EndpointId => setting.startsWith('ep_');

/**
 * A delivery waits for its next attempt, or has a final outcome: a 2xx answer, the last attempt failed, or the answer 410.
 */
export type DeliveryStatus = 'pending' | 'delivered' | 'exhausted' | 'gone';

/**
 * The status of an event that is only in the stream of its application, because its setting had no URL. Its row counts as
 * no delivery: nothing shows it as one, or sends it.
 */
export const UNSENT = 'unsent';

/** Identifies a delivery. */
export interface DeliveryKey {
  applicationId: string;
  deliveryId: string;
}

/** An event that is sent as a webhook. */
export interface WebhookEvent extends SettingReceiver {
  deviceId: string;
  transactionId?: number;
  /** The span whose work caused the event; null when it is not traced. */
  traceparent?: string | null;
  type: string;
  occurredAt: Micros;
  data: object;
  /** True when the setting has no URL, so that the event is only in the stream. */
  unsent?: boolean;
}

/** The numbers of an event, which the database gives to it. */
export interface EventNumbers {
  /** Rises within the application, in the order in which readers of the stream see events; null in rows of early releases. */
  sequence: number | null;
  /** Rises by one within a device of the application; null for an event about no device. */
  deviceSequence: number | null;
}

export const NO_NUMBERS: EventNumbers = { sequence: null, deviceSequence: null };

/**
 * The body as receivers and readers of the stream get it. The row has it without the numbers, because they are given when it
 * is stored.
 */
export function numberedBody(body: string, { sequence, deviceSequence }: EventNumbers): string {
  if (sequence === null) return body;
  const ofDevice = deviceSequence === null ? '' : `,"deviceSequence":${deviceSequence}`;
  return `${body.slice(0, -1)},"sequence":${sequence}${ofDevice}}`;
}

interface Keyed {
  applicationId: string;
  deliveryId: string;
}
const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** The order in which every unit changes deliveries and their attempts, so that two units never wait for each other. */
export const byKey = (a: Keyed, b: Keyed): number =>
  compare(a.applicationId, b.applicationId) || compare(a.deliveryId, b.deliveryId);

/** The fields of a delivery that an attempt needs. */
export interface Delivery extends EventNumbers {
  /** The identifier, which is also the webhook-id. */
  deliveryId: string;
  /** The text that is signed and sent, without the numbers; it is the same at every attempt. */
  body: string;
  /** The number of attempts that were made. */
  attempts: number;
  /**
   * How many times the delivery was asked to be sent again. If the number has risen during an attempt, the outcome of
   * the attempt is outdated.
   */
  round: number;
  createdAt: Micros;
  /** The span whose work caused the event; null when it is not traced. */
  traceparent: string | null;
}

/** The outcome of an attempt. */
export interface Outcome extends ReceiverName {
  deliveryId: string;
  /** The number of the event; null in rows of early releases. */
  sequence: number | null;
  /** The delivery's `round` when the attempt began. */
  round: number;
  status: DeliveryStatus;
  attempts: number;
  url: string | null;
  statusCode: number | null;
  error: string | null;
  /** The headers that differ from attempt to attempt, as sent-headers.ts packs them; null when nothing was sent. */
  sent: string | null;
  /** The beginning of the answer to a test event. */
  answer: string | null;
  /** Null unless the status is pending. */
  nextAttemptAt: Micros | null;
  at: number;
}
