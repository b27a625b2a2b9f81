import type { Clock } from '../../runtime/clock.ts';
import type { Micros } from '../../runtime/units.ts';
import type { Begun } from './audit.ts';

/**
 * Microseconds within which repeated reads of the same object share one entry: those of a person, and those of an
 * application, whose programs may read its settings all the time.
 */
export const SHARED_FOR = { person: 60_000_000, application: 3_600_000_000 } as const;
/** The most reads that are remembered; above it the oldest is forgotten, and its repetition gets an entry of its own. */
const KEPT_READS = 10_000;

export type SecretReads = ReturnType<typeof createSecretReads>;

/**
 * Decides which reads of secrets and payloads get an entry in the audit log: the first of somebody, of an object, within a
 * time. So a page that is read again and again does not fill the log.
 */
export function createSecretReads({ clock }: { clock: Pick<Clock, 'now'> }) {
  const seen = new Map<string, Micros>();

  return {
    /**
     * Begins the entry of a read; undefined when one of the same object was recorded within a time. Only a read that has
     * succeeded counts as recorded: otherwise one that fails would hide the next.
     */
    record(
      kind: keyof typeof SHARED_FOR,
      { who, what }: { who: string; what: string },
      begin: () => Promise<Begun>,
    ): Promise<Begun> | undefined {
      const read = `${kind} ${who} ${what}`;
      const before = seen.get(read);
      if (before !== undefined && clock.now() - before < SHARED_FOR[kind]) return undefined;
      const ended = (status: number): void => {
        if (status >= 400) return;
        // Deleted before it is set again, so that the map stays in the order of the reads.
        seen.delete(read);
        seen.set(read, clock.now());
        if (seen.size > KEPT_READS) for (const oldest of seen.keys().take(1)) seen.delete(oldest);
      };
      return begin().then((begun) => ({
        ...begun,
        ended(status, ...how) {
          ended(status);
          return begun.ended(status, ...how);
        },
      }));
    },
  };
}
