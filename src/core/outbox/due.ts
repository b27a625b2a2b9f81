import type { Micros } from '../../runtime/units.ts';

/** A row that is due for a device: an unfinished transaction, or the cancel of one that the device may have received. */
export interface Due {
  transactionId: number;
  applicationId: string;
  operation: string;
  parameters: object;
  /** `cancelled`: the device gets a cancel. */
  status: string;
  attempts: number;
  createdAt: Micros;
  updatedAt: Micros;
  /** Seconds from the delivery in which the device must answer; null: any time. */
  answerWithin: number | null;
  /** The time until which the command must be delivered; null: any time. */
  expiresAt: Micros | null;
  /** The rollout that made the command; null without one. */
  rolloutId: string | null;
  /** 1: the rollout holds its undelivered commands back, so this one must not be published now. */
  held?: number;
  /** The span of the request that made the command; null when it is not traced. */
  traceparent: string | null;
}
