import type { RunRecord } from '@lapel/device-sim/report/record';

const DISORDER = /command (\d+) came after command \d+/;
/** A device says so of its own observation; the books of the customer have a sentence of their own beside it. */
const BY_DEVICE = 'the service broke the contract';
const SOAK = /stage \d+ began -?[\d.]+ s after stage \d+, whose soak is/;
/** A device whose connection carries no bytes believes in it until it misses the answer to a ping. */
const BELIEVED = /the status of device \d+ has the wrong connected: false instead of true$/;
const TIMES = / \((\d+) times\)$/;

/**
 * The verdicts that do not count, because each breach that they counted is the order of a command that a pause of its
 * rollout has held back: it comes after later ones, as it must, and nobody outside of the service knows of the pause then.
 * While a clock is wrong, the time between two stages does not count either. A device does not know of a restore, which takes
 * back what it has got: the customer's books do, and judge the order of its commands as well. Where connections fall silent, a
 * device may believe that it is connected.
 */
export function excusedVerdicts(
  { troubles, verdicts }: Pick<RunRecord, 'troubles' | 'verdicts'>,
  heldBack: ReadonlySet<number>,
  { isTimeRight = true, isRestored = false, hasSilence = false } = {},
): readonly string[] {
  const excused = { 'unordered == 0': 0, 'violations == 0': 0, 'wrong == 0': 0 };
  // The troubles have a bound, and those of a wrong clock come first: then the story of the verdict has the others.
  const times = new Map<string, number>();
  const told = verdicts.flatMap(({ story }) => story).filter((line) => line.startsWith('device '));
  for (const line of [...told, ...troubles]) times.set(line.replace(TIMES, ''), Number(TIMES.exec(line)?.[1] ?? 1));
  for (const [text, count] of times) {
    if (hasSilence && BELIEVED.test(text)) excused['wrong == 0'] += count;
    if (!isTimeRight && SOAK.test(text)) excused['violations == 0'] += count;
    const [, id] = DISORDER.exec(text) ?? [];
    const isByDevice = text.includes(BY_DEVICE);
    if (id === undefined || !(heldBack.has(Number(id)) || (isByDevice && isRestored))) continue;
    excused[isByDevice ? 'violations == 0' : 'unordered == 0'] += count;
  }
  return Object.entries(excused).flatMap(([name, count]) =>
    verdicts.some(({ text, value }) => text === name && value === count) ? [name] : [],
  );
}
