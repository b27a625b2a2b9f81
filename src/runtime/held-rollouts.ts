import type { Clock } from './clock.ts';

/** The time in which a command that was claimed is committed, and is sent or begins to wait. */
const CLAIM_MICROS = 60 * 1_000_000;

export type HeldRollouts = ReturnType<typeof createHeldRollouts>;

/**
 * The rollouts whose undelivered commands must not be published, as far as this process knows. The database is asked when a
 * command is claimed; this is for commands that were claimed before, and are not written yet. So a hold is forgotten soon
 * unless such a command waits: the object store may be away for hours. `released` is called each time a rollout may publish
 * again.
 */
export function createHeldRollouts(clock: Clock, released: (rolloutId: string) => void) {
  const heldAt = new Map<string, number>();
  /** By rollout: its commands that wait to be written. */
  const waiting = new Map<string, number>();

  const isForgotten = (rolloutId: string, at: number): boolean =>
    !waiting.has(rolloutId) && clock.now() - at > CLAIM_MICROS;

  function isHeld(rolloutId: string | null): boolean {
    if (rolloutId === null) return false;
    const at = heldAt.get(rolloutId);
    if (at === undefined) return false;
    if (!isForgotten(rolloutId, at)) return true;
    heldAt.delete(rolloutId);
    return false;
  }

  return {
    isHeld,
    hold(rolloutId: string): void {
      for (const [known, at] of heldAt) if (isForgotten(known, at)) heldAt.delete(known);
      heldAt.set(rolloutId, clock.now());
    },
    release(rolloutId: string): void {
      heldAt.delete(rolloutId);
      released(rolloutId);
    },
    /** Call this when a claimed command of a rollout must wait; call the returned function when it was written or dropped. */
    waits(rolloutId: string | null): () => void {
      if (rolloutId === null) return () => undefined;
      isHeld(rolloutId); // forgets a hold that began long before this claim
      waiting.set(rolloutId, (waiting.get(rolloutId) ?? 0) + 1);
      return () => {
        const rest = (waiting.get(rolloutId) ?? 0) - 1;
        if (rest > 0) waiting.set(rolloutId, rest);
        else waiting.delete(rolloutId);
      };
    },
  };
}
