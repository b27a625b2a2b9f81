/**
 * Lets callers wait until a part of the service has nothing to do. The part itself calls `tell` whenever it may have
 * become idle.
 */
export function createIdle(isBusy: () => boolean) {
  let waiting: (() => void)[] = [];
  return {
    /** Resolves when the part has nothing to do. */
    idle: (): Promise<void> => (isBusy() ? new Promise((resolve) => waiting.push(resolve)) : Promise.resolve()),

    /** True while a caller of `idle` waits. */
    awaited: (): boolean => waiting.length > 0,

    /** Called when a piece of work has ended. When no other work is left, it resolves the promises of `idle`. */
    tell(): void {
      if (waiting.length === 0 || isBusy()) return;
      const told = waiting;
      waiting = [];
      for (const resolve of told) resolve();
    },
  };
}

/**
 * Lets callers wait until a part of the service has nothing to do. The part counts its pieces of work with `begun` and
 * `ended`.
 */
export function createWork() {
  let running = 0;
  const { idle, tell } = createIdle(() => running > 0);
  return {
    idle,
    running: (): number => running,
    begun(): void {
      running += 1;
    },
    ended(): void {
      running -= 1;
      tell();
    },
  };
}

export type Work = ReturnType<typeof createWork>;
