import type { HistogramData } from '../histogram.ts';

/**
 * The stages of a transaction, in milliseconds since its request: `accepted` (the 201 arrived), `delivered` (the device
 * has the command), `answered` (the service has acknowledged the device's answer), `settled` (the result event arrived
 * and is verified).
 */
export const STAGES = ['accepted', 'delivered', 'answered', 'settled'] as const;
export type Stage = (typeof STAGES)[number];

/**
 * The figures of one phase or of the whole run. They are plain data, so that those of several processes can be added
 * up.
 */
export interface Figures {
  /**
   * Requests of the actions, without repetitions, whether or not the action creates a transaction; and the transactions
   * of rollouts.
   */
  requests: number;
  /** Requests that got a 201, and transactions of rollouts: each is a transaction. */
  accepted: number;
  /** Requests that succeeded and create no transaction, such as reading a status. */
  carriedOut: number;
  /** Refusals (4xx) by status. A 429 after which the request was repeated does not count. */
  refused: Record<string, number>;
  /** Attempts of requests that got no answer, or a 5xx. Each repetition counts. */
  errors: number;
  /** How often a request waited because of a 429. */
  postponed: number;
  /** Transactions whose command reached the device. */
  delivered: number;
  /** Transactions by their verified result. */
  succeeded: number;
  failed: number;
  cancelled: number;
  /** Failures by code. */
  failures: Record<string, number>;
  /**
   * Transactions without a result that are not lost: the device is offline or has not answered, or the service will
   * attempt the webhook again.
   */
  unfinished: number;
  /**
   * Transactions whose result never arrived, although the service acknowledged the answer, or says that the transaction
   * is finished, or does not know it, or does not deliver it to a connected device; and acknowledged events that never
   * arrived.
   */
  lost: number;
  /**
   * Transactions with two results, commands that arrived again after their answer was acknowledged, and events with two
   * webhook-ids.
   */
  doubled: number;
  /** Results that arrived later after the acknowledgement of the answer than the run allows. */
  late: number;
  /** Commands that reached their device for the first time after a command with a higher transactionId. */
  unordered: number;
  /** transactionIds that the service gave to two calls. One of the two transactions has no result of its own then. */
  reused: number;
  /**
   * Breaches of the contract in the books: an id that was given twice, or a command or result of another device than
   * the one that was asked.
   */
  violations: number;
  /**
   * Differences between a message and the message that it was made from: in a parameter, result, error, device, event,
   * transaction record or status.
   */
  wrong: number;
  /** Webhooks with a wrong signature. */
  forged: number;
  /** Results of transactions that this run did not request. */
  unasked: number;
  /** Attempts of webhooks that had arrived before, whether or not the service had a reason to repeat them. */
  resent: number;
  /** Webhooks that arrived again although an earlier attempt was answered 2xx in time. */
  repeated: number;
  /** Attempts of webhooks that came earlier than the documented schedule allows. */
  hammering: number;
  /** How often a device had more commands without a PUBACK or an answer than the contract allows. */
  window: number;
  /**
   * Events of devices that the service acknowledged, and events that arrived. Lost and doubled events are also counted
   * in `lost` and `doubled`.
   */
  eventsTold: number;
  eventsReceived: number;
  eventsLost: number;
  eventsDoubled: number;
  /** Rollouts that the service has accepted, and their devices at the end. */
  rollouts: number;
  rolloutDevices: number;
  /** Devices of stopped rollouts that never got a command. */
  spared: number;
  /** Commands of rollouts that were published for the first time while the rollout had to stand still. */
  overshoot: number;
  /** Stages of rollouts that have begun, and all their stages. */
  stages: number;
  plannedStages: number;
  /** Events that endpoints got, and that readers of the stream got, without repetitions. */
  pushed: number;
  pulled: number;
  /** Events that came to an ordered endpoint, or to a reader of the stream, after a later one. */
  order: number;
  /** Events that never came to an endpoint, or to a reader of the stream, that should have got them. */
  gaps: number;
  /** Events that programs of the customer have lost, or got again, by their own faults. */
  customerLost: number;
  customerAgain: number;
  /** Rollouts by their state at the end. */
  rolloutStates: Record<string, number>;
  latency: Record<Stage, HistogramData>;
}
