import type { Clock } from '../../runtime/clock.ts';
import type { Micros } from '../../runtime/units.ts';

const MINUTE = 60_000_000;

/**
 * Counts the commands of rollouts that have a rate. A rollout may make the commands of one second at once, and those that
 * nobody made in a pause are lost.
 */
export function createPace(clock: Clock) {
  /** By rollout: the time at which all commands so far are paid for. */
  const paidAt = new Map<string, Micros>();

  return {
    /** The number of commands that may be made now, at most `most`; if none, the time of the next one. */
    allowed(rolloutId: string, perMinute: number | undefined, most: number): { count: number; at: Micros } {
      const now = clock.now();
      if (perMinute === undefined) return { count: most, at: now };
      const each = MINUTE / perMinute;
      const burst = Math.max(each, 1_000_000);
      const paid = Math.max(paidAt.get(rolloutId) ?? 0, now - burst);
      const count = Math.min(most, Math.floor((now - paid) / each + 1e-6));
      return { count, at: Math.ceil(paid + each) };
    },

    took(rolloutId: string, perMinute: number | undefined, commands: number): void {
      if (perMinute === undefined) return;
      const each = MINUTE / perMinute;
      const paid = Math.max(paidAt.get(rolloutId) ?? 0, clock.now() - Math.max(each, 1_000_000));
      paidAt.set(rolloutId, paid + commands * each);
    },

    forget: (rolloutId: string): unknown => paidAt.delete(rolloutId),
  };
}
