/** The most waiting callers that are asked when one slot becomes free. */
const MOST_RESUMED = 32;

/**
 * A bounded number of slots, and the callers that wait for one, in the order of their arrival. `resume` is called for a
 * waiting caller when a slot may be free; the caller takes the slots that it needs, or waits again.
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
      // A caller that may not take the slot waits again, behind the others.
      for (const waiter of waiting.values().take(MOST_RESUMED)) {
        if (free === 0) return;
        waiting.delete(waiter);
        resume(waiter);
      }
    },
  };
}
