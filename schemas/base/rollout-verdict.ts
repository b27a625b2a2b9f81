import type { RolloutVerdict } from '../contracts/types.ts';
import { MEASURE_NAMES } from './rollout-health.ts';
import { HEALTH_MEASURES } from './rollouts.ts';

export type Verdict = NonNullable<RolloutVerdict>;

/** A line of a verdict: its name for people, and its value in words. */
export type VerdictLine = readonly [name: string, value: string];

const MOST_CODES = 5;
/** From here on the number of silent devices is a step, too. */
const EXACT = 10;

const step = (devices: number, exactBelow: number): string =>
  devices < exactBelow ? String(devices) : `${devices} or more`;

function codesText(codes: readonly string[]): string {
  if (codes.length === 0) return 'none';
  const rest = codes.length - MOST_CODES;
  return `${codes.slice(0, MOST_CODES).join(', ')}${rest > 0 ? ` and ${rest} others` : ''}`;
}

/** The number of silent devices with its word: none is silent only where that is known. */
function silentText({ silent, measures }: Verdict): string {
  return silent === 0 && measures.silent === 'unknown' ? 'unknown' : `${step(silent, EXACT)} (${measures.silent})`;
}

/** All lines of a verdict, in an order that never changes. */
export const verdictLines = (verdict: Verdict): VerdictLine[] => [
  ['succeeded', step(verdict.succeeded, 2)],
  ['failed', String(verdict.failed)],
  ['codes', codesText(verdict.codes)],
  ['failed in stages before', String(verdict.failedBefore)],
  ['seen since', step(verdict.seen, 2)],
  [MEASURE_NAMES.silent, silentText(verdict)],
  ...HEALTH_MEASURES.filter((measure) => measure !== 'silent').map(
    (measure): VerdictLine => [MEASURE_NAMES[measure], verdict.measures[measure]],
  ),
  ['version kept', verdict.measures.versionKept],
  ['rules that have fired', verdict.fired.length === 0 ? 'none' : verdict.fired.join(', ')],
  ['paused', verdict.paused ?? 'no'],
];

/** The values of a line that say nothing. */
const QUIET: readonly string[] = ['0', 'none', 'unknown', 'no'];

/** A verdict in one sentence, without the lines that say nothing: `succeeded 20 or more, failed 1, codes BROKEN`. */
export const verdictText = (verdict: Verdict): string => {
  const lines = verdictLines(verdict).filter(
    ([name, value]) => !QUIET.includes(value) || ['succeeded', 'failed'].includes(name),
  );
  const unknown = HEALTH_MEASURES.filter((measure) => verdict.measures[measure] === 'unknown').length;
  const health = unknown === HEALTH_MEASURES.length ? ['nothing is known of their health yet'] : [];
  return [...lines.map(([name, value]) => `${name} ${value}`), ...health].join(', ');
};

/** The lines that differ, with both values: `failed: 0, now 1`. */
export function verdictChanges(before: Verdict, after: Verdict): string[] {
  const now = verdictLines(after);
  return verdictLines(before).flatMap(([name, value], index) => {
    const [, is = ''] = now[index] ?? [];
    return is === value ? [] : [`${name}: ${value}, now ${is}`];
  });
}
