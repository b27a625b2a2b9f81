import type { Application } from '../account/access.ts';
import { Interrupted } from '../line/interrupted.ts';
import { Failure } from '../show/failure.ts';
import { oneLine } from '../show/plain-text.ts';
import type { Terminal } from '../show/terminal.ts';

// Milliseconds between two attempts.
const PAUSE = 2_000;

/**
 * Repeats something that may be done twice while the service does not answer, as during its restart, until the time is
 * over (`left` in milliseconds). Throws a Failure, or Interrupted.
 */
export async function insist<Result>(
  act: () => Promise<Result>,
  { left, terminal }: { left: () => number; terminal: Terminal },
): Promise<Result> {
  const { interrupted, pause, stderr } = terminal;
  for (let failures = 1; ; failures += 1) {
    if (interrupted.aborted) throw new Interrupted();
    try {
      return await act();
    } catch (error) {
      if (!(error instanceof Failure) || !error.passing || left() <= 0) throw error;
      if (failures === 1) stderr.write(`${oneLine(`${error.message}; trying again`)}\n`);
    }
    await pause(Math.min(PAUSE, Math.max(0, left())), interrupted).catch(() => undefined);
  }
}

/** The same service, whose calls are repeated while it does not answer. All of them may be made twice. */
export const patient = (application: Application, how: Parameters<typeof insist>[1]): Application => ({
  ...application,
  call: (what, use) => insist(() => application.call(what, use), how),
});
