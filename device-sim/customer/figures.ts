import type { HistogramData } from '../histogram.ts';

/**
 * The way of a transaction, in milliseconds from its request: `accepted` (the 201 is there), `delivered` (the command is on the
 * device), `answered` (the service has acknowledged the answer of the device), `settled` (the result event is there, verified).
 */
export const STAGES = ['accepted', 'delivered', 'answered', 'settled'] as const;
export type Stage = (typeof STAGES)[number];

/** What became of everything, of one phase or of the whole run. Plain data: those of several processes can be added up. */
export interface Figures {
  /** Requests that were to create a transaction. */
  requests: number;
  /** Those that got a 201: each is a transaction. */
  accepted: number;
  /** Refusals (4xx) by status; a 429 that was waited for is not one. */
  refused: Record<string, number>;
  /** Requests that got no answer at all, or a 5xx. */
  errors: number;
  /** How often a request waited because the service asked for patience (429). */
  postponed: number;
  /** Transactions whose command came to the device. */
  delivered: number;
  /** Transactions by their verified result. */
  succeeded: number;
  failed: number;
  cancelled: number;
  /** Failures by code. */
  failures: Record<string, number>;
  /** No result yet, and none is owed: the device is away, or has not answered. */
  unfinished: number;
  /**
   * A transaction without a result although the service had acknowledged the answer, or says itself that it is finished, or
   * does not know it, or does not deliver it to a device that is there; an event that the service had acknowledged and that never came.
   */
  lost: number;
  /**
   * A transaction with two results, a command that came again after its answer was acknowledged, an event under two webhook-ids.
   */
  doubled: number;
  /** Results that came later after the answer was acknowledged than the run allows. */
  late: number;
  /** Commands that came to their device for the first time after one with a higher transactionId. */
  unordered: number;
  /** Ids of transactions that were accepted twice: one of the two is lost, or will be. */
  reused: number;
  /** Breaches of the contract that the books show: an id given twice, a command or a result of another device than asked. */
  violations: number;
  /** Webhooks whose signatures do not hold. */
  forged: number;
  /** Results of transactions that this run did not ask for. */
  unasked: number;
  /** Webhooks that came once more under the same webhook-id, as they may. */
  repeated: number;
  /** Events of devices: acknowledged by the service, and received. What is lost and doubled of them is also in `lost` and `doubled`. */
  eventsTold: number;
  eventsReceived: number;
  eventsLost: number;
  eventsDoubled: number;
  latency: Record<Stage, HistogramData>;
}
