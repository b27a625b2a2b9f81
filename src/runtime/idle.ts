/** For those who wait until a part has nothing to do. The part says when something may have changed about that. */
export function createIdle(isBusy: () => boolean) {
  let waiting: (() => void)[] = [];
  return {
    /** Resolves when the part is not busy. */
    idle: (): Promise<void> => (isBusy() ? new Promise((resolve) => waiting.push(resolve)) : Promise.resolve()),

    /** True while somebody waits. */
    awaited: (): boolean => waiting.length > 0,

    /** Something has come to its end: if that was all, those who wait are told. */
    tell(): void {
      if (waiting.length === 0 || isBusy()) return;
      const told = waiting;
      waiting = [];
      for (const resolve of told) resolve();
    },
  };
}

/** The same for a part that has nothing to do when nothing that it has begun is under way. */
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
