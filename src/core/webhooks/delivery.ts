import type { URL_SETTINGS } from '@lapel/schemas/contracts/values';
import type { Micros } from '../../runtime/units.ts';

/** The settings of an application that hold URLs. An application and a setting make a receiver. */
export type UrlSetting = keyof typeof URL_SETTINGS;

/** The deviceId in a webhook that concerns no device; no device has this IMEI. */
export const NO_DEVICE = '000000000000000';

export interface ReceiverName {
  applicationId: string;
  setting: UrlSetting;
}

/**
 * A delivery waits for its next attempt, or has a final outcome: a 2xx answer, the last attempt failed, or the answer 410.
 */
export type DeliveryStatus = 'pending' | 'delivered' | 'exhausted' | 'gone';

/** Identifies a delivery. */
export interface DeliveryKey {
  applicationId: string;
  deliveryId: string;
}

/** An event that is sent as a webhook. */
export interface WebhookEvent extends ReceiverName {
  deviceId: string;
  transactionId?: number;
  /** The span whose work caused the event; null when it is not traced. */
  traceparent?: string | null;
  type: string;
  occurredAt: Micros;
  data: object;
}

interface Keyed {
  applicationId: string;
  deliveryId: string;
}
const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** The order in which every unit changes deliveries and their attempts, so that two units never wait for each other. */
export const byKey = (a: Keyed, b: Keyed): number =>
  compare(a.applicationId, b.applicationId) || compare(a.deliveryId, b.deliveryId);
