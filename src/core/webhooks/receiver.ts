import type { Micros } from '../../runtime/units.ts';
import type { Kind } from './attempt-slots.ts';
import type { Delivery, ReceiverName } from './delivery.ts';

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
  /** The share of attempts that had no answer for a second, and of those that failed, both among the last ones. */
  lateShare: Share;
  failedShare: Share;
  /** When the window was halved last, in microseconds. */
  halvedAt: Micros;
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

/** A mean over the last attempts, of the last sixteen mostly; 0 to 1. */
interface Share {
  value: number;
  count: number;
}

type Round = Pick<Delivery, 'deliveryId' | 'round'>;

// The window works like TCP's congestion window: it starts small, grows by one with each answer while the receiver keeps
// pace, and is halved, once a second at most, when an attempt fails or has no answer for a second. It falls to one
// attempt when most of the last attempts did so. So a receiver that hangs takes few slots, and one whose answers are
// good except for some is not starved by these.
const FIRST_WINDOW = 4;
const LARGEST_WINDOW = 256;
// The largest window of a receiver that answers, but not at once.
const SLOW_WINDOW = 32;
const HALVED_MICROS = 1_000_000;
/** With a greater share of late attempts among the last ones, the receiver counts as one that hangs. */
const HANGS_ABOVE = 1 / 2;
/** With a greater share of failed attempts, the receiver counts as one that fails. */
const FAILS_ABOVE = 3 / 4;
const SAMPLES = 16;
/** The most late attempts of a receiver that take no room in its window. */
const LATE_BESIDE = 64;
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
    lateShare: { value: 0, count: 0 },
    failedShare: { value: 0, count: 0 },
    halvedAt: Number.NEGATIVE_INFINITY,
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

function sample(share: Share, isSo: boolean): void {
  share.count = Math.min(SAMPLES, share.count + 1);
  share.value += ((isSo ? 1 : 0) - share.value) / share.count;
}

const hangs = ({ lateShare }: Receiver): boolean => lateShare.value > HANGS_ABOVE;

/**
 * The attempts that take room in the window. Attempts without an answer for a second take none, or a few that hang would
 * hold up all others of their receiver until their time is over. If most hang, or too many, they count.
 */
export const inWindow = (receiver: Receiver, lateNow: number): number =>
  receiver.inFlight - (hangs(receiver) ? 0 : Math.min(lateNow, LATE_BESIDE));

/** Whether the next attempt of a receiver waits only because too many of its few late attempts have no answer yet. */
export const isHeldByLate = (receiver: Receiver, lateNow: number): boolean =>
  !hangs(receiver) && lateNow > LATE_BESIDE && receiver.inFlight - lateNow < receiver.window;

/**
 * Updates the receiver's state after a good answer. `quick`: the answer came within a second. `underWay`: the number of
 * attempts in its window, with this one.
 */
export function succeeded(receiver: Receiver, quick: boolean, underWay: number): void {
  sample(receiver.failedShare, false);
  if (quick) sample(receiver.lateShare, false); // the sample of a slow one was taken when it became late
  receiver.failing = false;
  receiver.slow = !quick && hangs(receiver);
  receiver.kind = quick || !hangs(receiver) ? 'quick' : 'trial';
  const largest = receiver.kind === 'quick' ? LARGEST_WINDOW : SLOW_WINDOW;
  const keepsPace = underWay * 2 >= receiver.window;
  receiver.window = Math.min(largest, keepsPace ? receiver.window + 1 : receiver.window);
}

/** `quick`: the attempt failed within a second. */
export function failed(receiver: Receiver, quick: boolean, now: Micros): void {
  sample(receiver.failedShare, true);
  if (quick) sample(receiver.lateShare, false);
  receiver.failing = true;
  receiver.slow = false;
  slowDown(receiver, receiver.failedShare.value > FAILS_ABOVE || hangs(receiver), now);
}

/** Updates the receiver's state when an attempt has had no answer for a second, unless slow answers are expected. */
export function late(receiver: Receiver, now: Micros): void {
  sample(receiver.lateShare, true);
  if (!receiver.slow) slowDown(receiver, hangs(receiver), now);
}

/**
 * Halves the window, or falls back to one attempt at a time; queued deliveries beyond the smaller bound are dropped from
 * memory.
 */
function slowDown(receiver: Receiver, isMost: boolean, now: Micros): void {
  if (isMost) {
    receiver.kind = 'trial';
    receiver.window = 1;
  } else if (now - receiver.halvedAt >= HALVED_MICROS) {
    receiver.halvedAt = now;
    receiver.window = Math.max(1, receiver.window >> 1);
  }
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

/** Puts a delivery into the queue. */
export function hold(receiver: Receiver, delivery: Delivery): void {
  receiver.held.set(delivery.deliveryId, delivery.round);
  receiver.queue.push(delivery);
}

/** Removes a delivery from the deliveries in memory, unless it was put there again with another `round`. */
export function unhold({ held }: Receiver, { deliveryId, round }: Round): void {
  if (held.get(deliveryId) === round) held.delete(deliveryId);
}

/** Whether the receiver can be dropped from memory, because all that is known of its deliveries is in the database. */
export const isIdle = (receiver: Receiver): boolean =>
  receiver.held.size === 0 && !receiver.more && !receiver.reading && receiver.nextDueAt === Number.POSITIVE_INFINITY;
