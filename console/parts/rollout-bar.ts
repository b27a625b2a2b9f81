import { a, div, li, span, ul, type VNode } from '../base/elements.ts';
import { count } from '../base/format.ts';
import { addressOf } from '../base/place.ts';
import { countsWords, DEVICE_STATES, totalOf } from '../base/rollout-words.ts';
import type { RolloutCounts } from '../base/rows.ts';

/** The names of the states for the legend. */
const NAMES: Readonly<Record<keyof RolloutCounts, string>> = {
  succeeded: 'succeeded',
  unchanged: 'unchanged: had it already',
  unfinished: 'unfinished: have a command',
  failed: 'failed',
  refused: 'refused: cannot have the command',
  cancelled: 'cancelled',
  waiting: 'waiting for a command',
};

/**
 * A bar of devices by their state. `wanted`: the share of successes in percent that the next stage needs, shown as a
 * mark. Devices that were refused or cancelled do not count for it.
 */
export function rolloutBar(counts: RolloutCounts, { wanted }: { wanted?: number | undefined } = {}): VNode {
  const all = Math.max(1, totalOf(counts));
  const basis = all - counts.refused - counts.cancelled;
  return div(
    { class: 'parts', role: 'img', 'aria-label': countsWords(counts) },
    DEVICE_STATES.filter((state) => state !== 'waiting' && counts[state] > 0).map((state) =>
      span({ key: state, class: `is-${state}`, style: { width: `${(counts[state] / all) * 100}%` } }),
    ),
    wanted === undefined || wanted === 0 || wanted === 100
      ? null
      : span({ class: 'mark', style: { left: `${(wanted * basis) / all}%` } }),
  );
}

/** The devices by their state, as a legend of the bar; each state leads to its devices. */
export const rolloutLegend = (rolloutId: string, counts: RolloutCounts): VNode =>
  ul(
    { class: 'parts-legend', 'aria-label': 'Devices by state' },
    DEVICE_STATES.filter((state) => counts[state] > 0).map((state) =>
      li(
        { key: state, class: `is-${state}` },
        a(
          { href: addressOf(['rollouts', rolloutId, 'devices'], { state }) },
          `${count(counts[state])} ${NAMES[state]}`,
        ),
      ),
    ),
  );
