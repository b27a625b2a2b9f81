import type { RolloutSummary } from '../customer/rollout-closing.ts';
import * as show from '../show.ts';

/** The devices of a rollout by state: `1764 waiting, 30 succeeded, 6 failed`. */
export const countsText = ({ counts }: RolloutSummary): string =>
  Object.entries(counts)
    .flatMap(([state, count]) => (count > 0 ? `${show.count(count)} ${state}` : []))
    .join(', ') || 'no devices';

/** The state of a rollout, with the reason of its pause. */
export const stateText = ({ state, reason }: RolloutSummary): string =>
  reason === null ? state : `${state} (${reason})`;

/** A rollout in a sentence. The label may contain anything: show it as plain text. */
export function rolloutText(rollout: RolloutSummary): string {
  const { label, stages, plannedStages, devices, spared, overshoot } = rollout;
  const kept = spared > 0 ? `; spared: ${show.count(spared)}` : '';
  const more = overshoot > 0 ? `; commands published although it stood still: ${show.count(overshoot)}` : '';
  return `${label}: ${stateText(rollout)} in stage ${stages} of ${plannedStages}; ${show.count(devices)} devices: ${countsText(rollout)}${kept}${more}`;
}
