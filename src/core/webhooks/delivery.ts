import type { URL_SETTINGS } from '../../platform/contracts/values.ts';

/** The settings of an application that hold URLs. Each of them, of each application, is a receiver. */
export type UrlSetting = keyof typeof URL_SETTINGS;

/** The device of a webhook that is about none: no device has this IMEI. */
export const NO_DEVICE = '000000000000000';

export interface ReceiverName {
  applicationId: string;
  setting: UrlSetting;
}

/** Waits for its next attempt; or over: answered with a 2xx, given up after the last attempt, answered with 410. */
export type DeliveryStatus = 'pending' | 'delivered' | 'exhausted' | 'gone';

/** One delivery of an application. */
export interface DeliveryKey {
  applicationId: string;
  deliveryId: string;
}

/** Something that a webhook tells of. */
export interface WebhookEvent extends ReceiverName {
  deviceId: string;
  transactionId?: number;
  type: string;
  /** Microseconds. */
  occurredAt: number;
  data: object;
}
