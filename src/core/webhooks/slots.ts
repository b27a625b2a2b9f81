/** The most waiters that are resumed for one slot that became free. */
const MOST_RESUMED = 32;

/**
 * A bounded number of slots, and those who wait for one, in the order of their arrival. `resume` is called when a slot may be
 * free; it takes what it needs, or waits again.
 */
export function createSlots<Waiter>(size: number, resume: (waiter: Waiter) => void) {
  const waiting = new Set<Waiter>();
  let free = size;
  return {
    free: (): number => free,
    take(): void {
      free -= 1;
    },
    wait(waiter: Waiter): void {
      waiting.add(waiter);
    },
    waits: (): boolean => waiting.size > 0,
    release(): void {
      free += 1;
      // A waiter that may not take a slot yet waits again, behind the others.
      for (const waiter of waiting.values().take(MOST_RESUMED)) {
        if (free === 0) return;
        waiting.delete(waiter);
        resume(waiter);
      }
    },
  };
}
