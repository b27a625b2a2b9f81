import type { Fleet } from '../fleet/fleet.ts';
import type { Timers } from '../timers.ts';

const SHORTEST_LOOK = 50;
const SIGNS = ['command', 'acknowledged', 'online', 'told'] as const;

/** Resolves when a fleet was idle for so many milliseconds, or when `signal` is aborted. */
function idleFor(fleet: Fleet, milliseconds: number, timers: Timers, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    let last = timers.now();
    const active = (): void => {
      last = timers.now();
    };
    for (const name of SIGNS) fleet.events.on(name, active);
    let cancel = timers.after(milliseconds, look);
    const end = (): void => {
      cancel();
      for (const name of SIGNS) fleet.events.off(name, active);
      resolve();
    };
    function look(): void {
      const rest = last + milliseconds - timers.now();
      if (rest <= 0 && fleet.counts().outstanding === 0) end();
      else cancel = timers.after(Math.max(rest, SHORTEST_LOOK), look);
    }
    signal.addEventListener('abort', end, { once: true });
  });
}

/**
 * Resolves at the end of a phase: after its duration, when the fleet is idle, or when the run is stopped, whichever
 * comes first.
 */
export async function phaseEnd({
  duration,
  untilIdle,
  fleet,
  timers,
  stopped,
}: {
  duration: number | null;
  untilIdle: number | null;
  fleet: Fleet;
  timers: Timers;
  stopped: AbortSignal;
}): Promise<void> {
  if (stopped.aborted) return;
  const over = new AbortController();
  const ends = [new Promise<void>((resolve) => stopped.addEventListener('abort', () => resolve(), { once: true }))];
  let cancel = (): void => {};
  if (duration !== null)
    ends.push(
      new Promise((resolve) => {
        cancel = timers.after(duration, resolve);
      }),
    );
  if (untilIdle !== null) ends.push(idleFor(fleet, untilIdle, timers, over.signal));
  await Promise.race(ends);
  cancel();
  over.abort();
}
