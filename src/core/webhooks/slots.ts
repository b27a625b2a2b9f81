/** When a slot becomes free, waiting callers are asked in turn. After so many that may not take it no more are asked. */
const MOST_REFUSED = 32;

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
      // A caller that may not take the slot waits again, behind the others. A caller that needs none any more is
      // dropped, and is no reason to stop.
      let firstRefused: Waiter | undefined;
      let refused = 0;
      for (const waiter of waiting) {
        if (free === 0 || refused === MOST_REFUSED || waiter === firstRefused) return;
        waiting.delete(waiter);
        resume(waiter);
        if (!waiting.has(waiter)) continue;
        firstRefused ??= waiter;
        refused += 1;
      }
    },
  };
}
