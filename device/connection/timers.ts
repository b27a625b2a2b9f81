/** Time that passes. Tests inject one that they move by hand. */
export interface Timers {
  /** Runs `task` once after so many milliseconds; the returned function cancels it. */
  after(milliseconds: number, task: () => void): () => void;
}

export const systemTimers: Timers = {
  after(milliseconds, task) {
    const timer = setTimeout(task, milliseconds);
    return () => clearTimeout(timer);
  },
};

/** Resolves after a time; rejects with the reason of `signal` when that is aborted. */
export function pause(timers: Timers, milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const stop = (): void => {
      cancel();
      reject(signal.reason as Error);
    };
    const cancel = timers.after(milliseconds, () => {
      signal.removeEventListener('abort', stop);
      resolve();
    });
    signal.addEventListener('abort', stop, { once: true });
  });
}
