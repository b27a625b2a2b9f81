import type { Timers } from './timers.ts';

/** The milliseconds of a slot; no device needs more precision. */
const TICK = 4;
/**
 * The slots of the near wheel cover four seconds. Each slot of the far wheel is one turn of the near one, over an hour
 * in all.
 */
const SLOTS = 1024;

/** One task, in the list of its slot. */
interface Entry {
  task: (() => void) | undefined;
  /** The tick in which the task runs. */
  due: number;
  previous: Entry;
  next: Entry;
}

function createList(): Entry {
  const head = { task: undefined, due: 0 } as Entry;
  head.previous = head;
  head.next = head;
  return head;
}

function append(list: Entry, entry: Entry): void {
  entry.previous = list.previous;
  entry.next = list;
  list.previous.next = entry;
  list.previous = entry;
}

function unlink(entry: Entry): void {
  entry.previous.next = entry.next;
  entry.next.previous = entry.previous;
  entry.next = entry;
  entry.previous = entry;
}

const isEmpty = (list: Entry): boolean => list.next === list;

/**
 * Timers for many thousand devices on one real timer: a hierarchical wheel (Varghese and Lauck, 1987), which sets and
 * cancels a task in constant time. A task runs up to four milliseconds late, never early. Tasks of one slot run in the
 * order in which they were set.
 */
export function createTimerWheel(real: Timers): Timers {
  const near = Array.from({ length: SLOTS }, createList);
  const far = Array.from({ length: SLOTS }, createList);
  const began = real.now();
  const ticksNow = (): number => (real.now() - began) / TICK;
  /** The last tick whose tasks have run. */
  let current = 0;
  let count = 0;
  let wakeAt = Number.POSITIVE_INFINITY;
  let cancelWake: (() => void) | undefined;
  let running = false;

  function place(entry: Entry): void {
    const turns = Math.floor(entry.due / SLOTS) - Math.floor(current / SLOTS);
    if (turns <= 0) append(near[entry.due % SLOTS]!, entry);
    // A task that is due after more than an hour is put into the last slot of the far wheel, and is placed again when
    // that slot comes.
    else append(far[(Math.floor(current / SLOTS) + Math.min(turns, SLOTS - 1)) % SLOTS]!, entry);
  }

  /** The next tick at which something must be done: a task is due, or tasks move from the far wheel to the near one. */
  function nextTick(): number {
    const turn = (Math.floor(current / SLOTS) + 1) * SLOTS;
    for (let tick = current + 1; tick < turn; tick += 1) if (!isEmpty(near[tick % SLOTS]!)) return tick;
    // Turns without a task are passed over, so a fleet at rest wakes nobody.
    for (let tick = turn; tick < turn + SLOTS * SLOTS; tick += SLOTS)
      if (!isEmpty(far[(tick / SLOTS) % SLOTS]!)) return tick;
    return turn;
  }

  /** Sets the real timer to the next tick at which something must be done. */
  function wake(): void {
    if (running || count === 0) return;
    const tick = nextTick();
    if (tick >= wakeAt) return;
    cancelWake?.();
    wakeAt = tick;
    cancelWake = real.after(Math.max(0, Math.ceil((tick - ticksNow()) * TICK)), run);
  }

  function runSlot(list: Entry): void {
    for (let entry = list.next; entry !== list; entry = list.next) {
      const { task } = entry;
      unlink(entry);
      count -= 1;
      entry.task = undefined;
      task?.();
    }
  }

  /** Moves the tasks of the next slot of the far wheel to the near wheel. */
  function turn(): void {
    const list = far[Math.floor(current / SLOTS) % SLOTS]!;
    // All tasks are taken out of the slot first, because `place` may put one of them into the same slot again.
    const entries: Entry[] = [];
    for (let entry = list.next; entry !== list; entry = list.next) {
      unlink(entry);
      entries.push(entry);
    }
    entries.forEach(place);
  }

  function run(): void {
    wakeAt = Number.POSITIVE_INFINITY;
    cancelWake = undefined;
    running = true;
    try {
      const now = Math.floor(ticksNow());
      while (current < now && count > 0) {
        current = Math.min(now, nextTick());
        if (current % SLOTS === 0) turn();
        runSlot(near[current % SLOTS]!);
      }
      current = Math.max(current, now);
    } finally {
      running = false;
      wake();
    }
  }

  return {
    now: real.now,
    after(milliseconds, task) {
      // While no task was set, no time was counted, so the wheel continues at the present time.
      if (count === 0 && !running) current = Math.max(current, Math.floor(ticksNow()));
      const due = Math.max(current + 1, Math.ceil(ticksNow() + Math.max(0, milliseconds) / TICK));
      const entry = { task, due } as Entry;
      entry.previous = entry;
      entry.next = entry;
      place(entry);
      count += 1;
      wake();
      return () => {
        if (!entry.task) return;
        entry.task = undefined;
        unlink(entry);
        count -= 1;
        if (count > 0) return;
        cancelWake?.();
        cancelWake = undefined;
        wakeAt = Number.POSITIVE_INFINITY;
      };
    },
  };
}
