import { createCounts } from '../../runtime/counts.ts';

/**
 * Counts the requests that the service is working on. A request does not count while the service waits for its client:
 * for the rest of the body, or until the client has read the answer. So a slow client takes nothing from others.
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
     * Counts one more request of a source (an application or a developer). Returns how many requests the source has
     * now, including the ones whose client is slow.
     */
    enterOf: (source: string): number => bySource.add(source, 1),
    leaveOf(source: string): void {
      bySource.add(source, -1);
    },
  };
}
