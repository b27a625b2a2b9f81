/**
 * Counts the requests that the service works for: what waits for its client (the rest of a body, an answer to be read)
 * is none of them, so a client that is slow takes nothing from the others.
 */
export function createInFlight() {
  const bySource = new Map<string, number>();
  let all = 0;

  return {
    enter(): void {
      all += 1;
    },
    leave(): void {
      all -= 1;
    },
    all: (): number => all,
    /** For one source, an application: with what waits for its client, which is its own affair. Answers how many it has. */
    enterOf(source: string): number {
      const count = (bySource.get(source) ?? 0) + 1;
      bySource.set(source, count);
      return count;
    },
    leaveOf(source: string): void {
      const left = (bySource.get(source) ?? 0) - 1;
      if (left > 0) bySource.set(source, left);
      else bySource.delete(source);
    },
  };
}
