import { createFairQueue } from './fair-queue.ts';

const ANYBODY: readonly string[] = [''];

/**
 * Lets other work run on the event loop between pieces of work: at most `perTurn` of them begin in one turn of the
 * loop. So a command never waits for more than that, however many transfers run and however fast the disk is. Waiting
 * pieces take turns by their owners, a path of a fair queue; those of one owner begin in order.
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
