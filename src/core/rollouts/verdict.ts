import { createHash } from 'node:crypto';
import { type Verdict, verdictLines } from '@lapel/schemas/base/rollout-verdict';
import { HEALTH_MEASURES } from '@lapel/schemas/base/rollouts';
import { byState, type Count } from './counts.ts';
import type { HealthFigures } from './health/figures.ts';
import type { Measure, Rollout } from './rollout.ts';

/** Below it a number of silent devices is exact: one more is one that somebody may know. */
const EXACT = 10;

/** A number rounded down to 1, 2, 5, 10, 20, 50 and so on, so that it does not change with each device. */
export function stepOf(devices: number): number {
  if (devices < 1) return 0;
  const ten = 10 ** Math.floor(Math.log10(devices));
  return ten * ([5, 2].find((times) => devices >= times * ten) ?? 1);
}

const UNKNOWN = Object.fromEntries(
  [...HEALTH_MEASURES, 'versionKept'].map((measure) => [measure, 'unknown']),
) as Verdict['measures'];

/** The parts of a verdict that do not come from the rollout itself. */
export interface Evidence {
  counts: readonly Count[];
  /** Undefined before the first look. */
  figures: HealthFigures | undefined;
  /** The measures of the health rules that have paused the rollout, by stage. */
  fired: readonly { stage: number; measure: Measure }[];
}

/** A stage as far as a person decides by it. Null before it begins. */
export function verdictOf(rollout: Rollout, stage: number, { counts, figures, fired }: Evidence): Verdict | null {
  if (stage < 0 || stage > rollout.stage) return null;
  const own = byState(counts, stage);
  const failures = counts.filter((count) => count.state === 'failed' && count.devices > 0);
  const codes = failures.filter((count) => count.stage === stage && count.code !== '').map(({ code }) => code);
  const before = failures.filter((count) => count.stage < stage);
  const seen = figures?.stages.find((one) => one.stage === stage);
  const { silentDevices = 0, words = UNKNOWN } = seen ?? {};
  return {
    succeeded: stepOf(own.succeeded),
    failed: own.failed,
    codes: codes.toSorted(),
    failedBefore: before.reduce((sum, { devices }) => sum + devices, 0),
    seen: stepOf(seen?.treated.seen ?? 0),
    silent: silentDevices < EXACT ? silentDevices : stepOf(silentDevices),
    measures: words,
    fired: [...new Set(fired.filter((one) => one.stage === stage).map(({ measure }) => measure))].toSorted(),
    paused: rollout.state === 'paused' && rollout.stage === stage ? rollout.reason : null,
  };
}

/** The characters of a tag for each line of the verdict: 24 bits. */
const PER_LINE = 4;
/** The lines of which more is only better: nobody has to look again for it. Their marks are the numbers, to be compared. */
const GROWING: readonly string[] = ['succeeded', 'seen since'];
const BASE = 36;

const marksOf = (verdict: Verdict): string[] =>
  verdictLines(verdict).map(([name, value]) => {
    const number = name === 'succeeded' ? verdict.succeeded : verdict.seen;
    if (GROWING.includes(name)) return number.toString(BASE).padStart(PER_LINE, '0');
    const whole = name === 'codes' ? JSON.stringify(verdict.codes) : value;
    return createHash('sha256').update(`${name} ${whole}`).digest('base64url').slice(0, PER_LINE);
  });

/**
 * The entity tag of the verdict on a stage. It has a mark for each line, so that the service can tell somebody who comes
 * with an earlier tag which of the lines have changed, and need not remember who has read what.
 */
export const tagOf = (stage: number, verdict: Verdict): string => `"${stage + 1}.${marksOf(verdict).join('')}"`;

const TAG = /^"(\d+)\.([\w-]+)"$/;
/** Whether a text has the form of the tag of a verdict. Verdicts of other releases may have more lines, or fewer. */
export const isVerdictTag = (text: string): boolean => TAG.test(text.trim());

/** Says what has changed since a tag was read, in words; empty when nothing has that somebody must know. */
export function changesSince(tag: string, stage: number, verdict: Verdict): string {
  const [, of, marks = ''] = TAG.exec(tag.trim()) ?? [];
  const now = verdictLines(verdict);
  if (Number(of) !== stage + 1) return `stage ${stage + 1} has begun`;
  if (marks.length !== now.length * PER_LINE) return 'the tag is that of another release';
  const changed = marksOf(verdict).flatMap((mark, index) => {
    const [name, value] = now[index] as (typeof now)[number];
    const seen = marks.slice(index * PER_LINE, (index + 1) * PER_LINE);
    const isMore = GROWING.includes(name) && Number.parseInt(seen, BASE) <= Number.parseInt(mark, BASE);
    return seen === mark || isMore ? [] : [`${name}: now ${value}`];
  });
  return changed.join('; ');
}
