import type { RunRecord } from '@lapel/device-sim/report/record';

/** The verdicts that count a command which came after a later one. */
const ABOUT_ORDER = ['unordered == 0', 'violations == 0'];
const DISORDER = /command (\d+) came after command \d+/;
const VIOLATION = 'the service broke the contract';

/**
 * The verdicts about the order of commands that do not count: a command that a pause of its rollout has held back comes
 * after later ones, as it must, and the books of the simulator do not know of the pause when it comes.
 */
export function excusedVerdicts(
  { troubles, troublesNotShown }: Pick<RunRecord, 'troubles' | 'troublesNotShown'>,
  heldBack: ReadonlySet<number>,
): readonly string[] {
  if (troublesNotShown > 0) return [];
  const isExcused = (text: string): boolean => {
    const found = DISORDER.exec(text);
    return found ? heldBack.has(Number(found[1])) : !text.includes(VIOLATION);
  };
  return troubles.every(isExcused) ? ABOUT_ORDER : [];
}
