import type { Clock } from '../../runtime/clock.ts';
import type { Micros } from '../../runtime/units.ts';

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
    /** Whether this read is the first; the following ones within a time are not. */
    isFirst(kind: keyof typeof SHARED_FOR, who: string, what: string): boolean {
      const [now, read] = [clock.now(), `${kind} ${who} ${what}`];
      const before = seen.get(read);
      if (before !== undefined && now - before < SHARED_FOR[kind]) return false;
      // Deleted before it is set again, so that the map stays in the order of the reads.
      seen.delete(read);
      seen.set(read, now);
      if (seen.size > KEPT_READS) for (const oldest of seen.keys().take(1)) seen.delete(oldest);
      return true;
    },
  };
}
