import { setTimeout as pause } from 'node:timers/promises';

/** The longest pause between two looks, in milliseconds. */
const LONGEST = 50;
/** Milliseconds after which it gives up: later than a test may take, so that a test that has failed does not go on for ever. */
const GIVE_UP = 300_000;

/**
 * Resolves when the condition holds. It pauses between two looks: tests run side by side, and a test that looks at each
 * turn of the event loop would take the processor from the service that it waits for.
 */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  const began = performance.now();
  for (let milliseconds = 0; !(await condition()); milliseconds = Math.min(milliseconds + 1, LONGEST)) {
    if (performance.now() - began > GIVE_UP)
      throw new Error(`it did not hold within ${GIVE_UP / 1000} s: ${String(condition)}`);
    await pause(milliseconds);
  }
}
