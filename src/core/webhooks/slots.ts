/**
 * A bounded number of slots, and those who wait for one, in the order of their arrival. `resume` is called when a slot may be
 * free; it takes what it needs, or waits again.
 */
export function createSlots<Waiter>(size: number, resume: (waiter: Waiter) => void) {
  const waiting = new Set<Waiter>();
  let free = size;
  return {
    free: (): boolean => free > 0,
    take(): void {
      free -= 1;
    },
    wait(waiter: Waiter): void {
      waiting.add(waiter);
    },
    waits: (): boolean => waiting.size > 0,
    release(): void {
      free += 1;
      for (const waiter of waiting) {
        if (free === 0) return;
        waiting.delete(waiter);
        resume(waiter);
      }
    },
  };
}
