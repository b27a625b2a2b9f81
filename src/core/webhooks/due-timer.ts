import type { Clock } from '../../runtime/clock.ts';
import type { Receiver } from './receiver.ts';

/** The least microseconds between two checks for due receivers, however close the due times are. */
const GAP_MICROS = 50_000;
/** The longest pause of the timer, because the clock can leap forward while a timer waits. No row is read for it. */
const LONGEST_WAIT_MS = 60_000;

interface Parts {
  clock: Clock;
  receivers(): Iterable<Receiver>;
  /** Called when deliveries of the receiver have become due and have to be read from the database. */
  due(receiver: Receiver): void;
}

/** One timer for all receivers: it waits for the earliest time at which deliveries of any receiver become due. */
export function createDueTimer({ clock, receivers, due }: Parts) {
  let isOn = false;
  let wakeAt = Number.POSITIVE_INFINITY;
  let lastWake = Number.NEGATIVE_INFINITY;
  let cancel = (): void => undefined;

  function arm(at: number): void {
    const when = Math.max(at, lastWake + GAP_MICROS);
    if (!isOn || when >= wakeAt) return;
    cancel();
    wakeAt = when;
    const waitMs = Math.max(0, Math.ceil((when - clock.now()) / 1000));
    cancel = clock.after(Math.min(waitMs, LONGEST_WAIT_MS), wake);
  }

  function wake(): void {
    const now = clock.now();
    wakeAt = Number.POSITIVE_INFINITY;
    let next = Number.POSITIVE_INFINITY;
    for (const receiver of receivers()) {
      if (receiver.nextDueAt <= now) {
        lastWake = now;
        receiver.nextDueAt = Number.POSITIVE_INFINITY;
        receiver.more = true;
        due(receiver);
      } else next = Math.min(next, receiver.nextDueAt);
    }
    if (next !== Number.POSITIVE_INFINITY) arm(next);
  }

  return {
    start(): void {
      isOn = true;
    },

    /**
     * Makes the receiver's due deliveries be read at that time (microseconds); if the time has passed, at the
     * receiver's next read.
     */
    schedule(receiver: Receiver, at: number): void {
      if (at <= clock.now()) receiver.more = true;
      else {
        receiver.nextDueAt = Math.min(receiver.nextDueAt, at);
        arm(at);
      }
    },

    stop(): void {
      isOn = false;
      cancel();
    },
  };
}
