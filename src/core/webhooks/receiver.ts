import type { Micros } from '../../runtime/units.ts';
import type { Kind } from './attempt-slots.ts';
import type { ReceiverName } from './delivery.ts';
import type { Delivery } from './delivery-repository.ts';

/**
 * The state in memory of one receiver (one setting of one application). All its deliveries are rows of the database;
 * those that are sent next are in memory too.
 */
export interface Receiver extends ReceiverName {
  /** The partition of receivers to which it belongs; with several nodes, each partition is one node's. */
  readonly partition: number;
  /** Deliveries that are to be attempted now. */
  queue: Delivery[];
  /**
   * The `round` of every delivery in memory, by deliveryId. It includes deliveries that are being sent, or whose
   * outcome is not stored yet.
   */
  held: Map<string, number>;
  inFlight: number;
  /**
   * How far the attempts run ahead of their answers: rises by one when an attempt begins, and falls by two, to 0 at
   * least, when one ends. So it stays low while the receiver answers, and rises with each attempt while it hangs.
   */
  ahead: number;
  /** The most attempts in progress for this receiver. */
  window: number;
  /** The kind of slot that its attempts take: `trial` until the receiver has answered within a second. */
  kind: Kind;
  /** Whether the last attempt for the receiver failed. */
  failing: boolean;
  /**
   * Whether the receiver's last answer was good but took longer than a second, so that further slow answers are expected.
   */
  slow: boolean;
  /** The time at which the log reported that the receiver fails, in microseconds; null when it answers. */
  loggedFailingAt: Micros | null;
  /** Whether the database may have due deliveries that are not in memory. */
  more: boolean;
  /** Whether a page of due deliveries is being read from the database. */
  reading: boolean;
  /** The earliest time at which a delivery that is not in memory becomes due; Infinity when there is none. */
  nextDueAt: Micros;
}

type Round = Pick<Delivery, 'deliveryId' | 'round'>;

// The window works like TCP's congestion window: it starts small, grows by one with each answer while the receiver keeps
// pace, and falls to one attempt when the receiver fails or stops answering. So a receiver that hangs takes few slots.
const FIRST_WINDOW = 4;
const LARGEST_WINDOW = 256;
// The largest window of a receiver that answers, but not at once.
const SLOW_WINDOW = 32;
// The bounds of deliveries in memory, per attempt in progress. QUEUED: deliveries that wait for an attempt, enough to
// continue while the next page is read. HELD: all deliveries in memory, including those whose outcome waits for the
// disk.
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
    ahead: 0,
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

/** The number of deliveries that may still be added to the queue in memory. */
export const roomIn = (receiver: Receiver): number =>
  Math.min(
    queueBound(receiver) - receiver.queue.length,
    Math.min(receiver.window * HELD_PER_ATTEMPT, MOST_HELD) - receiver.held.size,
  );

/**
 * Whether a page of due deliveries should be read from the database now: there may be some, none is being read, and the
 * queue has shrunk to a quarter of its bound.
 */
export const wantsMore = (receiver: Receiver): boolean =>
  receiver.more && !receiver.reading && roomIn(receiver) > 0 && receiver.queue.length * 4 <= queueBound(receiver);

/** Counts an attempt that begins. */
export function began(receiver: Receiver): void {
  receiver.inFlight += 1;
  receiver.ahead += 1;
}

/** Counts an attempt that has ended, with or without an answer. Nothing is ahead when no attempt is in progress. */
export function ended(receiver: Receiver): void {
  receiver.inFlight -= 1;
  receiver.ahead = Math.max(0, receiver.ahead - 2);
}

/**
 * Updates the receiver's state after a good answer. `quick`: the answer came within a second, and no attempt has waited
 * longer. `underWay`: the number of attempts in progress, with this one.
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

/**
 * Updates the receiver's state when an attempt has had no answer for a second. If the receiver was not slow before, it
 * may have stopped answering, so it gets one attempt at a time.
 */
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

/** Whether the delivery is already in memory, as new as the given one: `round` counts the requests to send it again. */
export const holds = ({ held }: Pick<Receiver, 'held'>, { deliveryId, round }: Round): boolean =>
  (held.get(deliveryId) ?? -1) >= round;

/** Removes a delivery from the deliveries in memory, unless it was put there again with another `round`. */
export function unhold({ held }: Receiver, { deliveryId, round }: Round): void {
  if (held.get(deliveryId) === round) held.delete(deliveryId);
}

/** Whether the receiver can be dropped from memory, because all that is known of its deliveries is in the database. */
export const isIdle = (receiver: Receiver): boolean =>
  receiver.held.size === 0 && !receiver.more && !receiver.reading && receiver.nextDueAt === Number.POSITIVE_INFINITY;
