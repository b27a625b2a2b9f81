import type { Operations } from '../../client/operations.ts';
import { bar } from '../show/progress.ts';

export type Rollout = Operations['readRollout']['answer'];
type Counts = Rollout['counts'];

const ENDED = ['succeeded', 'failed', 'cancelled', 'unchanged', 'refused'] as const;

const total = (counts: Counts): number => Object.values(counts).reduce((sum, devices) => sum + devices, 0);
const ended = (counts: Counts): number => ENDED.reduce((sum, state) => sum + counts[state], 0);

/** Counts in words, without zeros: `180 waiting, 5 succeeded`. */
const countsText = (counts: Counts): string =>
  Object.entries(counts)
    .filter(([, devices]) => devices > 0)
    .map(([state, devices]) => `${devices} ${state}`)
    .join(', ');

/** The state with its reason: `paused (ABORT_RULE)`. */
export const stateText = ({ state, reason }: Pick<Rollout, 'state' | 'reason'>): string =>
  reason === null ? state : `${state} (${reason})`;

/** A line for each stage that has begun, and one for each code of an error. */
export function linesOf({ stages, errors, resultsPerMinute, estimatedEnd }: Rollout): string[] {
  const begun = stages.flatMap(({ state, counts }, index) => {
    if (state === 'waiting') return [];
    const all = total(counts);
    const percent = all === 0 ? 100 : Math.floor((100 * ended(counts)) / all);
    return [`stage ${index + 1} of ${stages.length}  ${bar(percent)}  ${countsText(counts)}`];
  });
  const failures = errors.map(
    ({ state, code, devices, examples }) => `  ${state} ${code}: ${devices}, for example ${examples.join(', ')}`,
  );
  const speed =
    resultsPerMinute === null
      ? []
      : [`  ${resultsPerMinute} results a minute${estimatedEnd === null ? '' : `, the end at about ${estimatedEnd}`}`];
  return [...begun, ...failures, ...speed];
}
