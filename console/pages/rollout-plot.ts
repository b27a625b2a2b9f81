import { useRef } from 'preact/hooks';
import { type Child, p, use, type VNode } from '../base/elements.ts';
import type { RolloutDetails } from '../base/rows.ts';
import { plot } from '../parts/plot.ts';
import { card } from '../parts/show.ts';

/** The counts of a rollout at a time, in seconds since the epoch. */
interface Sample {
  at: number;
  of: RolloutDetails;
}

/** The most samples of a curve. Beyond it, every second one is left out, so that the curve still begins at its begin. */
const MOST_SAMPLES = 600;
/** The fewest samples that make a curve. */
const FEWEST_SAMPLES = 3;

/** The results over time, from the states that this page has read. The service keeps no earlier ones. */
function Results({ rollout }: { rollout: RolloutDetails }): Child {
  const samples = useRef<readonly Sample[]>([]);
  const last = samples.current.at(-1);
  if (last?.of !== rollout && (rollout.state === 'running' || last?.of.state === 'running')) {
    const all = [...samples.current, { at: Date.now() / 1000, of: rollout }];
    samples.current = all.length > MOST_SAMPLES ? all.filter((_, index) => index % 2 === 0) : all;
  }
  const seen = samples.current;
  if (seen.length === 0) return null;
  const values = (state: 'succeeded' | 'failed' | 'unfinished'): number[] => seen.map(({ of }) => of.counts[state]);
  return card(
    { title: 'While this page is open', bare: true },
    seen.length < FEWEST_SAMPLES
      ? p({ class: 'pad quiet' }, 'The curve of the results begins now.')
      : plot({
          label: 'Devices',
          times: seen.map(({ at }) => at),
          from: seen[0]!.at,
          to: seen.at(-1)!.at,
          lines: [
            { name: 'succeeded', colour: 'plot-1', values: values('succeeded') },
            { name: 'unfinished', colour: 'plot-2', values: values('unfinished') },
            { name: 'failed', colour: 'plot-3', values: values('failed') },
          ],
        }),
  );
}

export const resultsPlot = (rollout: RolloutDetails): VNode => use(Results, { rollout });
