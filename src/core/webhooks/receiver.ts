import type { Micros } from '../../runtime/units.ts';
import type { Kind } from './attempt-slots.ts';
import type { ReceiverName } from './delivery.ts';
import type { Delivery } from './delivery-repository.ts';

/**
 * The state in memory of one receiver (one setting of one application). Its deliveries are rows, of which some are held
 * here.
 */
export interface Receiver extends ReceiverName {
  /** The partition of receivers to which it belongs; with several nodes, each partition is one node's. */
  readonly partition: number;
  /** Deliveries that are to be attempted now. */
  queue: Delivery[];
  /** Every delivery in memory with its round: queued, in progress, or with an outcome that is not stored yet. */
  held: Map<string, number>;
  inFlight: number;
  /** The most attempts at a time. */
  window: number;
  /** The kind of slots that its attempts take: `trial` until it answers at once. */
  kind: Kind;
  /** Whether the last attempt for the receiver failed. */
  failing: boolean;
  /**
   * Whether the receiver's last answer was good but took longer than a second, so that further slow answers are expected.
   */
  slow: boolean;
  /** The time at which the log said that it fails, in microseconds; null when it did not. */
  loggedFailingAt: Micros | null;
  /** Whether the database may have due deliveries that are not held. */
  more: boolean;
  /** Whether a page of due deliveries is being read from the database. */
  reading: boolean;
  /** The time at which rows that are not held become due; Infinity when there are none. */
  nextDueAt: Micros;
}

type Round = Pick<Delivery, 'deliveryId' | 'round'>;

// The window works like TCP's congestion window: it starts small, grows by one with each answer while the receiver keeps
// pace, and falls to one attempt when the receiver fails or stops answering. So a receiver that hangs takes few slots.
const FIRST_WINDOW = 4;
const LARGEST_WINDOW = 256;
// The largest window of a receiver that answers, but not at once.
const SLOW_WINDOW = 32;
// Deliveries that are queued per attempt in progress, enough to continue while the next page is read; and all in memory,
// including those whose outcome waits for the disk.
const QUEUED_PER_ATTEMPT = 8;
const HELD_PER_ATTEMPT = 32;
const MOST_QUEUED = 512;
const MOST_HELD = 2048;

export function createReceiver({ applicationId, setting }: ReceiverName, partition = 0): Receiver {
  return {
    applicationId,
    setting,
    partition,
    queue: [],
    held: new Map(),
    inFlight: 0,
    window: FIRST_WINDOW,
    kind: 'trial',
    failing: false,
    slow: false,
    loggedFailingAt: null,
    more: false,
    reading: false,
    nextDueAt: Number.POSITIVE_INFINITY,
  };
}

const queueBound = ({ window }: Receiver): number => Math.min(window * QUEUED_PER_ATTEMPT, MOST_QUEUED);

/** The number of deliveries that may still be queued in memory. */
export const roomIn = (receiver: Receiver): number =>
  Math.min(
    queueBound(receiver) - receiver.queue.length,
    Math.min(receiver.window * HELD_PER_ATTEMPT, MOST_HELD) - receiver.held.size,
  );

/** Whether more should be read: the queue has shrunk to a quarter. */
export const wantsMore = (receiver: Receiver): boolean =>
  receiver.more && !receiver.reading && roomIn(receiver) > 0 && receiver.queue.length * 4 <= queueBound(receiver);

/**
 * Updates the state after a good answer. `quick`: it came within a second, and no attempt has waited longer. `underWay`:
 * attempts in progress, with this one.
 */
export function succeeded(receiver: Receiver, quick: boolean, underWay: number): void {
  receiver.failing = false;
  receiver.slow = !quick;
  receiver.kind = quick ? 'quick' : 'trial';
  const largest = quick ? LARGEST_WINDOW : SLOW_WINDOW;
  const keepsPace = underWay * 2 >= receiver.window;
  receiver.window = Math.min(largest, keepsPace ? receiver.window + 1 : receiver.window);
}

export function failed(receiver: Receiver): void {
  receiver.failing = true;
  receiver.slow = false;
  slowDown(receiver);
}

/** Updates the state after a second without an answer. A receiver that has never been slow may not answer at all. */
export function late(receiver: Receiver): void {
  if (!receiver.slow) slowDown(receiver);
}

/** Falls back to one attempt at a time; queued deliveries beyond the smaller bound are dropped from memory. */
function slowDown(receiver: Receiver): void {
  receiver.kind = 'trial';
  receiver.window = 1;
  dropQueue(receiver, queueBound(receiver));
}

/** Drops queued deliveries from memory, except the first `kept`; they remain in the database. */
export function dropQueue(receiver: Receiver, kept = 0): void {
  for (const delivery of receiver.queue.splice(kept)) {
    unhold(receiver, delivery);
    receiver.more = true;
  }
}

/** Whether the delivery is held, in this round or a later one. */
export const holds = ({ held }: Pick<Receiver, 'held'>, { deliveryId, round }: Round): boolean =>
  (held.get(deliveryId) ?? -1) >= round;

/** Stops holding a delivery, unless it is held in another round. */
export function unhold({ held }: Receiver, { deliveryId, round }: Round): void {
  if (held.get(deliveryId) === round) held.delete(deliveryId);
}

/** Whether the receiver's state has nothing that is not in the database as well. */
export const isIdle = (receiver: Receiver): boolean =>
  receiver.held.size === 0 && !receiver.more && !receiver.reading && receiver.nextDueAt === Number.POSITIVE_INFINITY;
