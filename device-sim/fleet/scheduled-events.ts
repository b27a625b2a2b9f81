import type { Timers } from '../timers.ts';

const HOUR = 3_600_000;
/** The shortest pause of the timer below; members whose visits are due in the same 5 ms are visited together. */
const SHORTEST_MILLISECONDS = 5;

/**
 * Calls `happen` at random times, `perHour` times an hour on average. The pause before the n-th event depends only on
 * `number(n)`, which is in [0, 1), so every run with one seed has the same events. Returns a function that ends this.
 */
export function scheduleHappenings({
  perHour,
  number,
  timers,
  happen,
}: {
  perHour: number;
  number: (n: number) => number;
  timers: Timers;
  happen: (n: number) => void;
}): () => void {
  if (perHour <= 0) return () => {};
  const mean = HOUR / perHour;
  let n = 0;
  let cancel: () => void;

  function wait(): void {
    // Events that do not depend on one another have pauses of this distribution (a Poisson process).
    cancel = timers.after(-Math.log(1 - number(n)) * mean, next);
  }
  function next(): void {
    happen(n);
    n += 1;
    wait();
  }

  wait();
  return () => cancel();
}

/**
 * Calls `visit` for each member once in `every` milliseconds, evenly spread, with one timer for all. Returns a function
 * that ends this.
 */
export function scheduleRounds({
  every,
  members,
  timers,
  visit,
}: {
  every: number;
  members: number;
  timers: Timers;
  visit: (member: number) => void;
}): () => void {
  if (every <= 0 || members === 0) return () => {};
  const began = timers.now();
  let visited = 0;
  let cancel = timers.after(every / members, catchUp);

  function catchUp(): void {
    // When the process stood still for longer than `every`, each member is visited only once for the missed time.
    const due = Math.floor(((timers.now() - began) / every) * members);
    visited = Math.max(visited, due - members);
    for (; visited < due; visited += 1) visit(visited % members);
    const next = began + ((visited + 1) * every) / members;
    cancel = timers.after(Math.max(SHORTEST_MILLISECONDS, next - timers.now()), catchUp);
  }
  return () => cancel();
}
