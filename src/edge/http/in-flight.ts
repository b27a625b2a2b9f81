import { createCounts } from '../../runtime/counts.ts';

/**
 * Counts the requests that the service is working on. Requests that wait for their client (for the rest of a body, or
 * until the answer is read) do not count, so a slow client takes nothing from others.
 */
export function createInFlight() {
  const bySource = createCounts();
  let all = 0;

  return {
    enter(): void {
      all += 1;
    },
    leave(): void {
      all -= 1;
    },
    all: (): number => all,
    /**
     * Counts a request of one source (an application) and returns the source's number of requests, including those that
     * wait for their client.
     */
    enterOf: (source: string): number => bySource.add(source, 1),
    leaveOf(source: string): void {
      bySource.add(source, -1);
    },
  };
}
