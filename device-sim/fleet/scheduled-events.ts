import type { Timers } from '../timers.ts';

const HOUR = 3_600_000;
/** Visits within so many milliseconds are made together. */
const SHORTEST_MILLISECONDS = 5;

/**
 * Plays random events, `perHour` on average, each independent of the others. `number` gives a number in [0, 1) for the
 * pause before the n-th event, so that the course depends on nothing else. Returns a function that stops this.
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
    // The pauses of a Poisson process.
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
 * Visits each member once in `every` milliseconds, evenly spread, with one timer. Returns a function that stops this.
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
    // After a pause of the whole process no member is visited twice.
    const due = Math.floor(((timers.now() - began) / every) * members);
    visited = Math.max(visited, due - members);
    for (; visited < due; visited += 1) visit(visited % members);
    const next = began + ((visited + 1) * every) / members;
    cancel = timers.after(Math.max(SHORTEST_MILLISECONDS, next - timers.now()), catchUp);
  }
  return () => cancel();
}
