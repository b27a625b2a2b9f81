import { createFairQueue } from './fair-queue.ts';

const ANYBODY: readonly string[] = [''];

/**
 * Divides long work into pieces and lets other work run on the event loop between them: at most `perTurn` pieces begin
 * in one turn of the loop. So a command waits for a few pieces at most, however many transfers run and however fast the
 * disk is. Pieces wait in a fair queue, where `whose` is their path; pieces of one owner begin in order.
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
