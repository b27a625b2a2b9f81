import type { Timers } from '../timers.ts';

const HOUR = 3_600_000;
/** Many visits of one moment are made in one go. */
const SHORTEST_MILLISECONDS = 5;

/**
 * Something that happens by chance, `perHour` on average, each time independently of the others. `number` gives a number of
 * [0, 1) for the pause before the n-th time, so that the course does not depend on anything else. Returns what stops it.
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
 * Each of the members in turn, each once in `every` milliseconds: one timer, and never a crowd. Returns what stops it.
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
    // After a pause of the whole process nobody is visited twice.
    const due = Math.floor(((timers.now() - began) / every) * members);
    visited = Math.max(visited, due - members);
    for (; visited < due; visited += 1) visit(visited % members);
    const next = began + ((visited + 1) * every) / members;
    cancel = timers.after(Math.max(SHORTEST_MILLISECONDS, next - timers.now()), catchUp);
  }
  return () => cancel();
}
