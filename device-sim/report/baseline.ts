import { STAGES, type Stage } from '../customer/figures.ts';
import { type HistogramData, percentile } from '../histogram.ts';
import * as show from '../show.ts';
import type { RunRecord, Verdict } from './record.ts';

/** An earlier report to compare with, and the share by which a latency may be longer (0.2: 20 %). */
export interface Baseline {
  readonly report: RunRecord;
  readonly tolerance: number;
}

const SHARES = [0.5, 0.99] as const;
/** The quantile of the normal distribution for an interval that contains the true value with 99 %. */
const Z = 2.576;

/** A percentile with the interval in which it lies, in milliseconds. */
interface Measured {
  readonly value: number;
  readonly low: number;
  readonly high: number;
}

/**
 * Measures a percentile with its noise. The number of values below the true percentile is binomially distributed, so
 * the values at the ranks `n p ± z √(n p (1 − p))` enclose it. Undefined if there are too few values for that.
 */
function measure(data: HistogramData, share: number): Measured | undefined {
  const spread = (Z * Math.sqrt(data.count * share * (1 - share))) / Math.max(1, data.count);
  if (data.count === 0 || share + spread > 1 || share - spread < 0) return undefined;
  return {
    value: percentile(data, share),
    low: percentile(data, share - spread),
    high: percentile(data, share + spread),
  };
}

interface Change {
  readonly about: string;
  readonly before: Measured;
  readonly now: Measured;
}

/** All percentiles that can be measured in both reports, phase by phase. */
function changesSince(before: RunRecord, now: RunRecord): Change[] {
  return now.chapters.flatMap(({ name, figures }) => {
    const former = before.chapters.find((chapter) => chapter.name === name)?.figures;
    if (!figures || !former) return [];
    return STAGES.flatMap((stage: Stage) =>
      SHARES.flatMap((share): Change[] => {
        const [one, other] = [measure(former.latency[stage], share), measure(figures.latency[stage], share)];
        return one && other ? [{ about: `p${share * 100}(${stage}) (${name})`, before: one, now: other }] : [];
      }),
    );
  });
}

const shown = ({ value, low, high }: Measured): string =>
  `${show.duration(value)} (${show.duration(low)} to ${show.duration(high)})`;
const percent = (share: number): number => Math.round(100 * share);
const slower = ({ before, now }: Change): number => now.value / before.value - 1;

/** The reason why two reports cannot be compared; undefined if they can. */
export function incomparable(
  before: Pick<RunRecord, 'scenario' | 'groups'>,
  now: Pick<RunRecord, 'scenario' | 'groups'>,
): string | undefined {
  const devices = ({ groups }: typeof now): number => groups.reduce((sum, group) => sum + group.devices, 0);
  if (before.scenario === now.scenario && devices(before) === devices(now)) return undefined;
  const text = (one: typeof now): string => `"${one.scenario}" with ${devices(one)} devices`;
  return `is a report of ${text(before)}; this run is ${text(now)}`;
}

/**
 * Compares the latencies of a run with those of an earlier one. A latency is slower if its interval lies above the
 * earlier interval, so that noise alone does not explain it. The verdict does not hold if one is slower by more than the
 * tolerance; its story names all that are slower.
 */
export function compare(record: RunRecord, { report, tolerance }: Baseline): Verdict {
  const changes = changesSince(report, record);
  const all = changes
    .filter(({ before, now }) => now.low > before.high)
    .sort((one, other) => slower(other) - slower(one));
  const worse = all.filter((change) => slower(change) > tolerance);
  return {
    text: `latencies <= ${percent(1 + tolerance)} % of the baseline`,
    phase: null,
    holds: worse.length === 0,
    // When the simulator was too slow to measure another expectation, it was too slow for this one as well.
    measurable: worse.length === 0 || record.verdicts.every(({ measurable }) => measurable),
    value: worse.length,
    shown: `${worse.length} of ${changes.length} slower, and ${all.length - worse.length} within the tolerance`,
    story: all.map(
      (change) =>
        `${change.about}: ${shown(change.before)} before, ${shown(change.now)} now, ${percent(slower(change))} % slower`,
    ),
  };
}
