import type { Child } from '../base/elements.ts';
import type { RolloutDetails, RolloutResults } from '../base/rows.ts';
import { plots } from '../parts/plot.ts';
import { card } from '../parts/show.ts';

const secondsOf = (time: string): number => Date.parse(time) / 1000;

/** The sums of the results at the begin, and at the end of each interval that has results. Times are in seconds. */
function sumsOf({ from, intervalSeconds, results }: RolloutResults): {
  times: number[];
  succeeded: number[];
  failed: number[];
} {
  const sums = { times: [from === null ? 0 : secondsOf(from)], succeeded: [0], failed: [0] };
  for (const { at, succeeded, failed } of results) {
    sums.times.push(secondsOf(at) + intervalSeconds);
    sums.succeeded.push((sums.succeeded.at(-1) ?? 0) + succeeded);
    sums.failed.push((sums.failed.at(-1) ?? 0) + failed);
  }
  return sums;
}

/** The results over time, from the start of the rollout on. They are of the same moment as the counts of the page. */
export function resultsPlot({ results }: RolloutDetails): Child {
  if (!results || results.results.length === 0) return null;
  const { times, succeeded, failed } = sumsOf(results);
  return card(
    { title: 'Results over time', bare: true },
    plots([
      {
        label: 'Devices',
        times,
        from: times[0]!,
        to: times.at(-1)!,
        lines: [
          { name: 'succeeded', colour: 'plot-1', values: succeeded },
          { name: 'failed', colour: 'plot-3', values: failed },
        ],
      },
    ]),
  );
}
