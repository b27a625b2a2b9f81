import type { Clock } from '../../../runtime/clock.ts';
import type { Micros } from '../../../runtime/units.ts';

/** The redelivered webhooks of an application that go out in a second, and those that go out at once before. */
const PER_SECOND = 200;
const AT_ONCE = 1_000;
const EACH_MICROS = 1_000_000 / PER_SECOND;
/** A start pulls down due times that are much later. */
const LATEST_MICROS = 24 * 3_600 * 1_000_000;

/**
 * The pace of redelivered ranges. Without it, a range goes out as fast as its receiver answers, and other applications'
 * new webhooks wait for the processor. The times are stored as due times, so the pace outlives a restart.
 */
export function createRedeliveryPace({ clock }: { clock: Clock }) {
  /** By application: the time at which its redelivered webhooks will all have gone out at the pace. */
  const ends = new Map<string, Micros>();

  const idleEnd = (): Micros => clock.now() - AT_ONCE * EACH_MICROS;

  return {
    /** The time at which the next redelivered webhooks of an application are due. */
    next(applicationId: string): Micros {
      const idle = idleEnd();
      for (const [each, end] of ends) if (end <= idle) ends.delete(each);
      const now = clock.now();
      return Math.min(Math.max(now, ends.get(applicationId) ?? now), now + LATEST_MICROS);
    },

    /** Counts webhooks that became due. */
    took(applicationId: string, webhooks: number): void {
      const end = Math.max(idleEnd(), ends.get(applicationId) ?? Number.NEGATIVE_INFINITY);
      ends.set(applicationId, end + webhooks * EACH_MICROS);
    },
  };
}
