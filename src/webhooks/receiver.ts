import type { ReceiverName } from './delivery.ts';
import type { Delivery } from './delivery-repository.ts';

/** What is known of one receiver (one setting of one application) in memory; its deliveries are rows, of which some are here. */
export interface Receiver extends ReceiverName {
  /** Deliveries to be attempted now. */
  queue: Delivery[];
  /** Every delivery in memory: queued, under way, or with an outcome that is not yet written. */
  held: Set<string>;
  /** Those of `held` that were made due again meanwhile: a read passes over them until their outcome is written. */
  dueAgain: Set<string>;
  inFlight: number;
  /** How many attempts may be under way at once; 1 means that the last one failed. */
  window: number;
  /** The database may have deliveries due that are not held. */
  more: boolean;
  /** A page of them is being read. */
  reading: boolean;
  /** When rows that are not held come due; Infinity when there are none. */
  nextDueAt: number;
}

// A receiver starts small, gains one with each success and falls to one attempt at a time with a failure, so one that
// hangs takes few places from the others however much waits for it.
const FIRST_WINDOW = 4;
const LARGEST_WINDOW = 32;
// Queued deliveries per attempt under way: enough to go on while the next page is read.
const QUEUED_PER_ATTEMPT = 8;
// Deliveries in memory per attempt under way, those included whose outcome waits for the disk.
const HELD_PER_ATTEMPT = 32;

export function createReceiver({ applicationId, setting }: ReceiverName): Receiver {
  return {
    applicationId,
    setting,
    queue: [],
    held: new Set(),
    dueAgain: new Set(),
    inFlight: 0,
    window: FIRST_WINDOW,
    more: false,
    reading: false,
    nextDueAt: Number.POSITIVE_INFINITY,
  };
}

export const isFailing = (receiver: Receiver): boolean => receiver.window === 1;

/** How many deliveries may still be queued in memory. */
export const roomIn = ({ window, queue, held }: Receiver): number =>
  Math.min(window * QUEUED_PER_ATTEMPT - queue.length, window * HELD_PER_ATTEMPT - held.size);

/** Whether it is time to read more: the queue has run down to a quarter. */
export const wantsMore = (receiver: Receiver): boolean =>
  receiver.more &&
  !receiver.reading &&
  roomIn(receiver) > 0 &&
  receiver.queue.length * 4 <= receiver.window * QUEUED_PER_ATTEMPT;

export function succeeded(receiver: Receiver): void {
  receiver.window = Math.min(LARGEST_WINDOW, receiver.window + 1);
}

/** Falls back to one attempt at a time; what is queued beyond the smaller bound goes back to being rows only. */
export function failed(receiver: Receiver): void {
  receiver.window = 1;
  for (const { deliveryId } of receiver.queue.splice(QUEUED_PER_ATTEMPT)) {
    receiver.held.delete(deliveryId);
    receiver.dueAgain.delete(deliveryId);
    receiver.more = true;
  }
}

/** Whether nothing is known of it that the database does not know. */
export const isIdle = (receiver: Receiver): boolean =>
  receiver.held.size === 0 && !receiver.more && !receiver.reading && receiver.nextDueAt === Number.POSITIVE_INFINITY;
