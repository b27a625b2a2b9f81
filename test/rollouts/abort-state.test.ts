import t from 'tap';
import { abortStateOf } from '../../src/core/rollouts/abort-state.ts';
import { type Count, isOverLimit } from '../../src/core/rollouts/counts.ts';
import type { Plan } from '../../src/core/rollouts/rollout.ts';

const countsOf = (succeeded: number, failed: number, waiting: number): Count[] => [
  { stage: 0, state: 'succeeded', code: '', devices: succeeded },
  { stage: 0, state: 'failed', code: 'BROKEN', devices: failed },
  { stage: 0, state: 'waiting', code: '', devices: waiting },
];

t.test('the abort rule stops a rollout at the number of failures that was said, and not before', async (t) => {
  for (const failedPercent of [1, 10, 33, 50, 99, 100])
    for (const minimumResults of [1, 5, 20])
      for (const succeeded of [0, 1, 7, 30])
        for (const failed of [0, 1, 4]) {
          const abort = { failedPercent, minimumResults };
          const plan = { abort } as unknown as Plan;
          const left = 2_000;
          const stopsAt = abortStateOf(plan, countsOf(succeeded, failed, left))?.stopsAt;
          const first = Array.from({ length: left + 1 }, (_, more) => failed + more).find((failures) =>
            isOverLimit(abort, countsOf(succeeded, failures, 0)),
          );
          t.equal(stopsAt, first ?? null, `${failedPercent} % of ${minimumResults}, ${succeeded} + ${failed}`);
        }
});

t.test('with too few devices left it stops nothing', async (t) => {
  const plan = { abort: { failedPercent: 50, minimumResults: 10 } } as Plan;
  t.match(abortStateOf(plan, countsOf(3, 1, 5)), { stopsAt: null });
  t.match(abortStateOf(plan, countsOf(3, 1, 6)), { stopsAt: 7 });
  t.match(abortStateOf({ ...plan, continuous: true }, countsOf(3, 1, 5)), { stopsAt: 7 }, 'more may join');
  t.equal(abortStateOf({} as Plan, countsOf(1, 1, 1)), null);
});
