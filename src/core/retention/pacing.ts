/** The factor by which a pause is longer than the step before it. */
const PAUSE_FACTOR = 19;
const SHORTEST_PAUSE_MS = 5;

/**
 * Waits after a piece of background work, in proportion to the time that the work took, so that other work is not
 * slowed down. Resolves to false when the service stops, so that the work must end.
 */
export type Pace = (workedMs: number) => Promise<boolean>;

/**
 * Makes the pauses of background work. Times concern the event loop, so they are measured in real time and not by the
 * injected clock.
 */
export function createPacing(pauseFactor = PAUSE_FACTOR) {
  const stopping = new AbortController();
  const { signal } = stopping;

  const pace: Pace = async (workedMs) => {
    if (signal.aborted) return false;
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, Math.max(pauseFactor && SHORTEST_PAUSE_MS, workedMs * pauseFactor)).unref();
    const giveUp = (): void => resolve();
    signal.addEventListener('abort', giveUp);
    await promise;
    signal.removeEventListener('abort', giveUp); // otherwise the signal would keep a listener for each pause
    clearTimeout(timer);
    return !signal.aborted;
  };

  return {
    pace,
    /** Whether the work must end. */
    isStopped: (): boolean => signal.aborted,
    /** Ends the present pause and all later ones at once. */
    stop: (): void => stopping.abort(),
  };
}
