import { createFairQueue } from './fair-queue.ts';

const ANYBODY: readonly string[] = [''];

/**
 * Shares the event loop with everything else: of the pieces of work that ask, at most `perTurn` begin in one turn of it.
 * However many transfers run, and however fast the disk is, a command waits for no more than that. Those that wait go in
 * turns by whose they are, a path of a fair queue; those of one in their order.
 */
export function createTurns(perTurn: number): (whose?: readonly string[]) => Promise<void> {
  const waiting = createFairQueue<() => void>();
  let begun = 0;
  let scheduled = false;

  function nextTurn(): void {
    scheduled = false;
    begun = Math.min(perTurn, waiting.size());
    if (begun > 0) schedule();
    for (let count = 0; count < begun; count += 1) waiting.take()?.();
  }
  function schedule(): void {
    if (scheduled) return;
    scheduled = true;
    setImmediate(nextTurn);
  }

  return (whose = ANYBODY) => {
    schedule();
    if (begun < perTurn) {
      begun += 1;
      return Promise.resolve();
    }
    return new Promise((resolve) => waiting.put(whose, resolve));
  };
}
