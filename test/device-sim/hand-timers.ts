/** Time that the test moves. */
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
    /** How many wait. */
    waiting: () => due.length,
    /** Runs what is due next; gives the time then, or undefined when nothing waits. */
    async next(): Promise<number | undefined> {
      const entry = due.toSorted((a, b) => a.at - b.at)[0];
      if (!entry) return undefined;
      due = due.filter((other) => other !== entry);
      now = Math.max(now, entry.at);
      entry.task();
      await new Promise((resolve) => setImmediate(resolve));
      return now;
    },
    /** Lets so much time go by without anything that is due. */
    skip(milliseconds: number): void {
      now += milliseconds;
    },
  };
}
