/**
 * Runs the functions that units of work have registered for their commit or their rollback (`onCommit`, `onRollback`).
 */
export function createEffects(onError: (cause: unknown) => void) {
  const run = (list: readonly (() => void)[]): void => {
    for (const effect of list) {
      try {
        effect();
      } catch (cause) {
        // The commit has succeeded, so a failing effect must not turn the answers of the units into errors.
        onError(cause);
      }
    }
  };
  return {
    run,
    /** Runs effects of a rollback at once, the latest first, so that the next unit finds memory as it was before. */
    undo: (list: readonly (() => void)[]): void => run(list.toReversed()),
  };
}
