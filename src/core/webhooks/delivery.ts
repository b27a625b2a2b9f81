/** The settings of an application that hold URLs. One of them, of one application, is a receiver. */
export type WebhookSetting =
  | 'deviceEvent'
  | 'callEvent'
  | 'callFileSendEvent'
  | 'callRecGetMultiPresignedUrl'
  | 'fileUploadEvent'
  | 'fileUploadGetUrl';

/** Settings whose URLs get webhooks; the others are asked. */
export const EVENT_SETTINGS = ['deviceEvent', 'callEvent', 'callFileSendEvent', 'fileUploadEvent'] as const;

/** The device of a webhook that is about none: no device has this IMEI. */
export const NO_DEVICE = '000000000000000';

export interface ReceiverName {
  applicationId: string;
  setting: WebhookSetting;
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
