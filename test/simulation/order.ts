import type { RunRecord } from '@lapel/device-sim/report/record';

const DISORDER = /command (\d+) came after command (\d+)/;
/** A device says so of its own observation; the books of the customer have a sentence of their own beside it. */
const BY_DEVICE = 'the service broke the contract';
const SOAK = /stage \d+ began -?[\d.]+ s after stage \d+, whose soak is/;
const TIMES = / \((\d+) times\)$/;

/**
 * The verdicts that do not count, because each breach that they counted is excused. A pause of its rollout has held a command
 * back, and nobody outside of the service knows of the pause: the command comes after later ones, as it must. A device does
 * not know of a restore, which takes back commands that it has got: none of them numbered up to `takenBack` shows an order, and
 * the customer's books judge it. While a clock is wrong, the time between two stages says nothing.
 */
export function excusedVerdicts(
  { troubles, verdicts }: Pick<RunRecord, 'troubles' | 'verdicts'>,
  heldBack: ReadonlySet<number>,
  { isTimeRight = true, takenBack = 0 } = {},
): readonly string[] {
  const excused = { 'unordered == 0': 0, 'violations == 0': 0 };
  // The troubles have a bound, and those of a wrong clock come first: then the story of the verdict has the others.
  const times = new Map<string, number>();
  const told = verdicts.flatMap(({ story }) => story).filter((line) => line.startsWith('device '));
  for (const line of [...told, ...troubles]) times.set(line.replace(TIMES, ''), Number(TIMES.exec(line)?.[1] ?? 1));
  for (const [text, count] of times) {
    if (!isTimeRight && SOAK.test(text)) excused['violations == 0'] += count;
    const [, id, later] = DISORDER.exec(text) ?? [];
    const isByDevice = text.includes(BY_DEVICE);
    const isTakenBack = isByDevice && Number(later) <= takenBack;
    if (id === undefined || !(heldBack.has(Number(id)) || isTakenBack)) continue;
    excused[isByDevice ? 'violations == 0' : 'unordered == 0'] += count;
  }
  return Object.entries(excused).flatMap(([name, count]) =>
    verdicts.some(({ text, value }) => text === name && value === count) ? [name] : [],
  );
}
