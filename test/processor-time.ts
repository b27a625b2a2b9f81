import type { Test } from 'tap';

/** Milliseconds of processor time that count as nothing: a cost that grows faster than its text is far above. */
const NOTHING = 50;
/** A text of twice the length may cost at most so many times as much; a quadratic cost would be four times as much. */
const MOST = 3;
const TRIES = 12;

async function costOf(run: () => Promise<void> | void): Promise<number> {
  const before = process.cpuUsage();
  await run();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/**
 * Asserts that the cost of a text grows with its length: `run` is called with a number of characters, and with twice as
 * many. The lowest of several tries counts, so that this holds on a busy machine as well.
 */
export async function costsItsLength(
  t: Test,
  name: string,
  run: (length: number) => Promise<void> | void,
  length = 32 * 1024,
): Promise<void> {
  let once = Number.POSITIVE_INFINITY;
  let twice = Number.POSITIVE_INFINITY;
  for (let left = TRIES; left > 0; left -= 1) {
    twice = Math.min(twice, await costOf(() => run(2 * length)));
    if (twice <= NOTHING) return;
    once = Math.min(once, await costOf(() => run(length)));
    if (twice <= MOST * once && left < TRIES) return;
  }
  t.fail(`${name}: ${once.toFixed(1)} ms for ${length} characters, ${twice.toFixed(1)} ms for twice as many`);
}

/** Texts that are expensive for code which reads them more than once, each of a length. */
export const WORST = (
  '1 a " \\ [ { . - / é a. 1. a- = %41 \\" "a": {"a": a=1& <a ?a \\u0022 password "password": "password":" ' +
  '\\"secret\\":\\" token= https://a https://a? a:a@ aA_-9'
)
  .split(' ')
  .concat(' ', ', ', '; ')
  .flatMap((unit) => [
    (length: number): string => unit.repeat(length / unit.length),
    (length: number): string => `${unit.repeat((length - 2) / unit.length)}\u0001!`,
  ]);
