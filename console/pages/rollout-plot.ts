import { type Child, use, type VNode } from '../base/elements.ts';
import { useEvery } from '../base/every.ts';
import { useLoad } from '../base/load.ts';
import { operation, read } from '../base/requests.ts';
import type { RolloutDetails, RolloutResults } from '../base/rows.ts';
import { plot } from '../parts/plot.ts';
import { card } from '../parts/show.ts';

/** Milliseconds after which the results of a running rollout are read again. */
const READ_EVERY = 5_000;

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

/** The results over time, from the start of the rollout on. */
function Results({ rollout: { rolloutId, state } }: { rollout: RolloutDetails }): Child {
  const results = useLoad(`${rolloutId} ${state}`, (signal) =>
    read<RolloutResults>(
      operation({ operator: 'readFleetRolloutResults', application: 'readRolloutResults' }, { rolloutId }),
      { signal },
    ),
  );
  useEvery(state === 'running' ? READ_EVERY : undefined, results.again);
  const { value } = results.state.value;
  if (!value || value.results.length === 0) return null;
  const { times, succeeded, failed } = sumsOf(value);
  return card(
    { title: 'Results over time', bare: true },
    plot({
      label: 'Devices',
      times,
      from: times[0]!,
      to: times.at(-1)!,
      lines: [
        { name: 'succeeded', colour: 'plot-1', values: succeeded },
        { name: 'failed', colour: 'plot-3', values: failed },
      ],
    }),
  );
}

export const resultsPlot = (rollout: RolloutDetails): VNode => use(Results, { rollout });
