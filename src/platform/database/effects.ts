/** Runs what units of work have left for when their fate is known. */
export function createEffects(onError: (cause: unknown) => void) {
  const run = (list: readonly (() => void)[]): void => {
    for (const effect of list) {
      try {
        effect();
      } catch (cause) {
        onError(cause); // the commit stands: an effect must not decide what others are told
      }
    }
  };
  return {
    run,
    /** Latest first and at once, so that what a unit changed in memory is as before when the next unit looks. */
    undo: (list: readonly (() => void)[]): void => run(list.toReversed()),
  };
}
