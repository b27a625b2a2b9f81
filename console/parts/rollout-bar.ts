import { a, div, li, span, ul, type VNode } from '../base/elements.ts';
import { count } from '../base/format.ts';
import { addressOf } from '../base/place.ts';
import { countsWords, type InWork, partsOf, totalOf } from '../base/rollout-words.ts';
import type { RolloutCounts } from '../base/rows.ts';

/** The names of the parts for the legend, where they need more than their word. */
const NAMES: Readonly<Record<string, string>> = {
  unchanged: 'unchanged: had it already',
  confirming: 'confirming: have succeeded, and are to be seen again',
  unfinished: 'unfinished: have a command',
  installing: 'installing: have the command, and no result',
  queued: 'queued: their command is not delivered yet',
  'switched off': 'switched off: not seen since their command was made',
  refused: 'refused: cannot have the command',
  waiting: 'waiting for a command',
};

interface How {
  /** The share of successes in percent that the next stage needs, shown as a mark. */
  wanted?: number | undefined;
  /** The unfinished devices, told apart. */
  inWork?: InWork | undefined;
}

/** A bar of devices by their state. Devices that were refused or cancelled do not count for the share that is wanted. */
export function rolloutBar(counts: RolloutCounts, { wanted, inWork }: How = {}): VNode {
  const all = Math.max(1, totalOf(counts));
  const basis = all - counts.refused - counts.cancelled;
  return div(
    { class: 'parts', role: 'img', 'aria-label': countsWords(counts, inWork) },
    partsOf(counts, inWork)
      .filter(({ state }) => state !== 'waiting')
      .map(({ word, looks, devices }) =>
        span({ key: word, class: `is-${looks}`, style: { width: `${(devices / all) * 100}%` } }),
      ),
    wanted === undefined || wanted === 0 || wanted === 100
      ? null
      : span({ class: 'mark', style: { left: `${(wanted * basis) / all}%` } }),
  );
}

/** The devices by their state, as a legend of the bar; each state leads to its devices. */
export const rolloutLegend = (rolloutId: string, counts: RolloutCounts, inWork: InWork): VNode =>
  ul(
    { class: 'parts-legend', 'aria-label': 'Devices by state' },
    partsOf(counts, inWork).map(({ state, word, looks, devices }) =>
      li(
        { key: word, class: `is-${looks}` },
        a(
          { href: addressOf(['rollouts', rolloutId, 'devices'], { state }) },
          `${count(devices)} ${NAMES[word] ?? word}`,
        ),
      ),
    ),
  );
