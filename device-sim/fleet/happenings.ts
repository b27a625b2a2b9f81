import type { Random } from '../random.ts';
import type { Timers } from '../timers.ts';

const HOUR = 3_600_000;
/** Many happenings of one moment are made in one go. */
const SHORTEST_MILLISECONDS = 5;

/**
 * Things that happen to a fleet by chance, `perHour` to each of its `members`, independently of each other: one timer for
 * all of them, however many there are. Calls `happen` with the place of the member that it hits. Returns what stops it.
 */
export function scheduleHappenings({
  perHour,
  members,
  random,
  timers,
  happen,
}: {
  perHour: number;
  members: number;
  random: Random;
  timers: Timers;
  happen: (member: number) => void;
}): () => void {
  if (perHour <= 0 || members === 0) return () => {};
  const mean = HOUR / (perHour * members);
  // The pauses of a Poisson process.
  const nextPause = (): number => -Math.log(1 - random()) * mean;
  let due = timers.now() + nextPause();
  let cancel = timers.after(due - timers.now(), catchUp);

  function catchUp(): void {
    for (const now = timers.now(); due <= now; due += nextPause()) happen(Math.floor(random() * members));
    cancel = timers.after(Math.max(SHORTEST_MILLISECONDS, due - timers.now()), catchUp);
  }
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
