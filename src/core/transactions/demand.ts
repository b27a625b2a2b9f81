const WINDOW_MILLISECONDS = 100;
/** Windows that are remembered: what was asked for a moment ago will be asked for again. */
const REMEMBERED = 10;

export type Demand = ReturnType<typeof createDemand>;

/** How often something is asked for: the most of any tenth of the last second. */
export function createDemand(now: () => number = () => performance.now()) {
  const counts = Array.from({ length: REMEMBERED }, () => 0);
  let current = 0; // number of the window

  /** The place of the present window; those that have gone by since the last one are empty. */
  function place(): number {
    const window = Math.floor(now() / WINDOW_MILLISECONDS);
    for (let gone = Math.max(current + 1, window - REMEMBERED + 1); gone <= window; gone += 1)
      counts[gone % REMEMBERED] = 0;
    current = window;
    return window % REMEMBERED;
  }

  return {
    add(): void {
      const at = place();
      counts[at] = (counts[at] ?? 0) + 1;
    },
    perSecond(): number {
      place();
      return (Math.max(...counts) * 1000) / WINDOW_MILLISECONDS;
    },
  };
}
