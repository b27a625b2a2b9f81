import type { Kind } from './attempt-slots.ts';
import type { ReceiverName } from './delivery.ts';
import type { Delivery } from './delivery-repository.ts';

/** What is known of one receiver (one setting of one application) in memory; its deliveries are rows, of which some are here. */
export interface Receiver extends ReceiverName {
  /** Where there are other nodes: of which part of all receivers it is. */
  readonly partition: number;
  /** Deliveries to be attempted now. */
  queue: Delivery[];
  /** Every delivery in memory with its round: queued, under way, or with an outcome that is not yet written. */
  held: Map<string, number>;
  inFlight: number;
  /** How many attempts may be under way at once. */
  window: number;
  /** Which places its attempts take: `trial` until it answers at once. */
  kind: Kind;
  /** Its last attempt failed. */
  failing: boolean;
  /** Its last answer was good, and took longer than a second: no wonder that others do. */
  slow: boolean;
  /** Since when the log says that it fails, in microseconds; null when it does not say so. */
  toldFailing: number | null;
  /** The database may have deliveries due that are not held. */
  more: boolean;
  /** A page of them is being read. */
  reading: boolean;
  /** When rows that are not held come due; Infinity when there are none. */
  nextDueAt: number;
}

type Round = Pick<Delivery, 'deliveryId' | 'round'>;

// As congestion windows do: a receiver starts small, gains one with each answer while it keeps pace, and falls to one
// attempt at a time when it fails or stops answering, so one that hangs takes few places however much waits for it.
const FIRST_WINDOW = 4;
const LARGEST_WINDOW = 256;
// Of one that answers, but not at once.
const SLOW_WINDOW = 32;
// Deliveries queued per attempt under way: enough to go on while the next page is read. And in memory, those included
// whose outcome waits for the disk.
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
    toldFailing: null,
    more: false,
    reading: false,
    nextDueAt: Number.POSITIVE_INFINITY,
  };
}

const queueBound = ({ window }: Receiver): number => Math.min(window * QUEUED_PER_ATTEMPT, MOST_QUEUED);

/** How many deliveries may still be queued in memory. */
export const roomIn = (receiver: Receiver): number =>
  Math.min(
    queueBound(receiver) - receiver.queue.length,
    Math.min(receiver.window * HELD_PER_ATTEMPT, MOST_HELD) - receiver.held.size,
  );

/** Whether it is time to read more: the queue has run down to a quarter. */
export const wantsMore = (receiver: Receiver): boolean =>
  receiver.more && !receiver.reading && roomIn(receiver) > 0 && receiver.queue.length * 4 <= queueBound(receiver);

/** A good answer came: `quick`, within a second, and none is waited for longer. `underWay`: attempts, this one included. */
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

/** There has been no answer for a second. From one that was never slow to answer, there may be none any more. */
export function late(receiver: Receiver): void {
  if (!receiver.slow) slowDown(receiver);
}

/** Falls back to one attempt at a time; what is queued beyond the smaller bound goes back to being rows only. */
function slowDown(receiver: Receiver): void {
  receiver.kind = 'trial';
  receiver.window = 1;
  dropQueue(receiver, queueBound(receiver));
}

/** What is queued goes back to being rows only, but for the first so many. */
export function dropQueue(receiver: Receiver, kept = 0): void {
  for (const delivery of receiver.queue.splice(kept)) {
    letGo(receiver, delivery);
    receiver.more = true;
  }
}

/** Whether it is held, in that round or a later one. */
export const holds = ({ held }: Pick<Receiver, 'held'>, { deliveryId, round }: Round): boolean =>
  (held.get(deliveryId) ?? -1) >= round;

/** Nothing is left to do for it in that round. */
export function letGo({ held }: Receiver, { deliveryId, round }: Round): void {
  if (held.get(deliveryId) === round) held.delete(deliveryId);
}

/** Whether nothing is known of it that the database does not know. */
export const isIdle = (receiver: Receiver): boolean =>
  receiver.held.size === 0 && !receiver.more && !receiver.reading && receiver.nextDueAt === Number.POSITIVE_INFINITY;
