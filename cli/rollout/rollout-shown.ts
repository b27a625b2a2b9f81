import { findingText } from '@lapel/schemas/base/rollout-health';
import { verdictText } from '@lapel/schemas/base/rollout-verdict';
import type { Text } from '../show/look.ts';
import { oneLine } from '../show/plain-text.ts';
import { recordText, timeText } from '../show/table.ts';
import { linesOf, type Rollout } from './rollout-text.ts';

/** Times of half, most and nearly all devices; null when there are none. */
const timesText = ({ p50, p90, p99 }: Rollout['result']): string | null =>
  p50 === null ? null : `50 % in ${p50} s, 90 % in ${p90} s, 99 % in ${p99} s`;

/** A rollout as text: its fields, a bar for each stage, its errors, its history. */
export const shown = (rollout: Rollout): Text => {
  const { stages: _, errors: __, selector, rules, history, counts: ___, delivery, result, ...all } = rollout;
  // The lines of the stages, and those after them, say these in words.
  const { inWork: ____, abortRule: _____, healthRules: ______, ...rest } = all;
  const fields = recordText({ ...rest, selector, rules, delivery: timesText(delivery), result: timesText(result) });
  const events = history.map(({ at, event, stage, by, person, reason, health, verdict }) =>
    oneLine(
      `  ${timeText(at)}  ${event}${stage === null ? '' : ` (stage ${stage})`} by ${person ?? by}${reason ? `: ${reason}` : ''}${
        health ? `: ${findingText(health)}` : ''
      }${verdict ? `; then: ${verdictText(verdict)}` : ''}`,
    ),
  );
  return (look) =>
    fields(look) + [...linesOf(rollout, look.width), 'History (UTC)', ...events].map((line) => `${line}\n`).join('');
};
