/** The settings of an application that hold URLs. One of them, of one application, is a receiver. */
export type WebhookSetting =
  | 'deviceEvent'
  | 'callEvent'
  | 'callFileSendEvent'
  | 'callRecGetMultiPresignedUrl'
  | 'fileUploadEvent'
  | 'fileUploadGetUrl';

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
