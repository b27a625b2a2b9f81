import type { Clock } from './clock.ts';

/** The time after which every command that was claimed before has been written, or was ended meanwhile. */
const HELD_MICROS = 60 * 1_000_000;

export type HeldRollouts = ReturnType<typeof createHeldRollouts>;

/**
 * The rollouts whose undelivered commands must not be published, as far as this process knows. The database is asked when a
 * command is claimed; this is for commands that were claimed before, and are not written yet. So it is forgotten soon.
 * `released` is called each time a rollout may publish again.
 */
export function createHeldRollouts(clock: Clock, released: (rolloutId: string) => void) {
  const heldAt = new Map<string, number>();
  return {
    hold(rolloutId: string): void {
      const now = clock.now();
      for (const [known, at] of heldAt) if (now - at > HELD_MICROS) heldAt.delete(known);
      heldAt.set(rolloutId, now);
    },
    release(rolloutId: string): void {
      heldAt.delete(rolloutId);
      released(rolloutId);
    },
    isHeld: (rolloutId: string | null): boolean =>
      rolloutId !== null && clock.now() - (heldAt.get(rolloutId) ?? Number.NEGATIVE_INFINITY) <= HELD_MICROS,
  };
}
