/** A bound is checked in so many steps. */
const STEPS = 20;

/**
 * Calls `onLate` after so many milliseconds, unless the returned function was called before. A long turn of the event loop
 * counts as one step of twenty, because answers that arrived meanwhile are still unread: the other side is not late then,
 * this process is.
 */
export function startTimeout(milliseconds: number, onLate: () => void): () => void {
  let steps = 0;
  const timer = setInterval(() => {
    steps += 1;
    if (steps < STEPS) return;
    clearInterval(timer);
    onLate();
  }, milliseconds / STEPS);
  return () => clearInterval(timer);
}
