/**
 * Shares the event loop with everything else: of the pieces of work that ask, at most `perTurn` begin in one turn of it.
 * However many transfers run, and however fast the disk is, a command waits for no more than that.
 */
export function createTurns(perTurn: number): () => Promise<void> {
  let begun = 0;
  let scheduled = false;
  let waiting: (() => void)[] = [];

  function nextTurn(): void {
    scheduled = false;
    const resumed = waiting.slice(0, perTurn);
    waiting = waiting.slice(perTurn);
    begun = resumed.length;
    if (begun > 0) schedule();
    for (const resume of resumed) resume();
  }
  function schedule(): void {
    if (scheduled) return;
    scheduled = true;
    setImmediate(nextTurn);
  }

  return () => {
    schedule();
    if (begun < perTurn) {
      begun += 1;
      return Promise.resolve();
    }
    return new Promise((resolve) => waiting.push(resolve));
  };
}
