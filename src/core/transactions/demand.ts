const WINDOW_MS = 100;
/**
 * The number of windows (tenths of a second) that are remembered. The highest count of commands among them is the
 * demand.
 */
const REMEMBERED = 10;

export type Demand = ReturnType<typeof createDemand>;

/** Measures how often commands are submitted: the highest rate of any tenth of the last second. */
export function createDemand(now: () => number = () => performance.now()) {
  const counts = Array.from({ length: REMEMBERED }, () => 0);
  let current = 0; // number of the current window since the process began

  /** Clears the counts of windows that have passed since the last call. Returns the index of the present window. */
  function moveOn(): number {
    const window = Math.floor(now() / WINDOW_MS);
    for (let gone = Math.max(current + 1, window - REMEMBERED + 1); gone <= window; gone += 1)
      counts[gone % REMEMBERED] = 0;
    current = window;
    return window % REMEMBERED;
  }

  return {
    add(): void {
      const at = moveOn();
      counts[at] = (counts[at] ?? 0) + 1;
    },
    perSecond(): number {
      moveOn();
      return (Math.max(...counts) * 1000) / WINDOW_MS;
    },
  };
}
