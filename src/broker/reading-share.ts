/** Milliseconds of one turn of the event loop that the packets of devices may take, over all connections. */
const PER_TURN = 5;

/** A connection that waits for its share: it hands on one run of packets, or nothing when it is gone. */
type Resume = () => void;

/**
 * Shares the event loop between the packets of all connections and everything else. Rates hold for each device, but a
 * tenant may have many: together they cause more work than there is time for. What packets take is measured; when it is
 * too much for one turn, the connections wait for the next ones and go round, those with little to read and those with much
 * in circles of their own, so that a short acknowledgement does not wait behind a hundred large messages.
 */
export function createReadingShare() {
  const waiting: Record<'short' | 'long', Set<Resume>> = { short: new Set(), long: new Set() };
  let used = 0;
  let scheduled = false;

  const none = (): boolean => waiting.short.size + waiting.long.size === 0;

  function schedule(): void {
    if (scheduled) return;
    scheduled = true;
    setImmediate(turn);
  }

  /** The first of a circle goes on in any case, the others while there is time. */
  function goRound(circle: Set<Resume>): void {
    let first = true;
    for (const resume of circle) {
      if (!first && used >= PER_TURN) return;
      first = false;
      circle.delete(resume);
      resume();
    }
  }

  function turn(): void {
    scheduled = false;
    used = 0;
    goRound(waiting.short);
    goRound(waiting.long);
    if (used >= PER_TURN || !none()) schedule();
  }

  return {
    /** Whether packets may be handed on at once; else it waits. */
    free: (): boolean => used < PER_TURN && none(),
    wait(resume: Resume, size: 'short' | 'long'): void {
      waiting[size].add(resume);
      schedule();
    },
    /** What was handed on took so many milliseconds. */
    took(milliseconds: number): void {
      used += milliseconds;
      if (used >= PER_TURN) schedule();
    },
  };
}
