import { setTimeout as pause } from 'node:timers/promises';

/** The longest pause between two looks, in milliseconds. */
const LONGEST = 50;

/**
 * Resolves when the condition holds. It pauses between two looks: tests run side by side, and a test that looks at each
 * turn of the event loop would take the processor from the service that it waits for.
 */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  for (let milliseconds = 0; !(await condition()); milliseconds = Math.min(milliseconds + 1, LONGEST))
    await pause(milliseconds);
}
