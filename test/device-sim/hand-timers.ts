/** Timers whose time the test moves. */
export function handTimers() {
  let now = 0;
  let due: { at: number; task: () => void }[] = [];
  return {
    now: () => now,
    after(milliseconds: number, task: () => void) {
      const entry = { at: now + milliseconds, task };
      due.push(entry);
      return () => {
        due = due.filter((other) => other !== entry);
      };
    },
    /** The number of waiting tasks. */
    waiting: () => due.length,
    /** Runs the next due task; returns its time, or undefined if no task waits. */
    async next(): Promise<number | undefined> {
      const entry = due.toSorted((a, b) => a.at - b.at)[0];
      if (!entry) return undefined;
      due = due.filter((other) => other !== entry);
      now = Math.max(now, entry.at);
      entry.task();
      await new Promise((resolve) => setImmediate(resolve));
      return now;
    },
    /** Moves the time without running a task. */
    elapse(milliseconds: number): void {
      now += milliseconds;
    },
  };
}
