import t from 'tap';
import type { Count } from '../../src/core/rollouts/counts.ts';
import type { Plan, Rollout } from '../../src/core/rollouts/rollout.ts';
import { endOf } from '../../src/views/rollout-end.ts';

const SECOND = 1_000_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const START = Date.parse('2026-11-20T12:00:00Z') * 1000;

/** A rollout that began at noon in stages of ten devices, with a result a minute. */
function rolloutOf(plan: Partial<Plan>, more: Partial<Rollout> = {}): Rollout {
  return {
    state: 'running',
    plan: { developerId: 'dev', terms: {}, stages: [{ devices: 10 }], ...plan },
    stage: 0,
    startedAt: START,
    shareSince: null,
    approved: -1,
    ...more,
  } as Rollout;
}
const countsOf = (...stages: [succeeded: number, waiting: number][]): Count[] =>
  stages.flatMap(([succeeded, waiting], stage) => [
    { stage, state: 'succeeded', code: '', devices: succeeded },
    { stage, state: 'waiting', code: '', devices: waiting },
  ]);
const minutes = (end: number | null): number | null => end && Math.round((end - START) / MINUTE);

const continueWhen = { succeededPercent: 95, soakFor: 2 * 3600 };

t.test('without soaks and windows a rollout ends when the devices that are left have had their time', async (t) => {
  const { end, endWaitsFor } = endOf(rolloutOf({}), countsOf([4, 6]), [], START + 4 * MINUTE);
  t.same([minutes(end), endWaitsFor], [10, null]);
});

t.test('soaks that are to come count', async (t) => {
  const rollout = rolloutOf({ stages: [{ devices: 10, continueWhen }, { devices: 10 }] });
  t.equal(minutes(endOf(rollout, countsOf([4, 6], [0, 10]), [], START + 4 * MINUTE).end), 10 + 120 + 10);

  await t.test('and one that has begun, to its end; the devices have nothing to do in it', async (t) => {
    const soaking = { ...rollout, shareSince: START + 10 * MINUTE };
    t.equal(minutes(endOf(soaking, countsOf([10, 0], [0, 10]), [], START + 70 * MINUTE).end), 10 + 120 + 10);
  });
});

t.test('windows count: what is not done goes on in the next one', async (t) => {
  const window = { from: '11:00', to: '12:15', timeZone: 'UTC' };
  const rollout = rolloutOf({ window, stages: [{ devices: 40 }] });
  const { end } = endOf(rollout, countsOf([10, 30]), [], START + 10 * MINUTE);
  t.equal(minutes(end), 23 * 60 + 25, '5 minutes of work are done today, 25 tomorrow from 11:00 on');
});

t.test('nobody knows the time of what a person must do', async (t) => {
  const stages = [{ devices: 10, continueWhen, approval: true }, { devices: 10 }];
  const counts = countsOf([10, 0], [0, 10]);
  const now = START + HOUR;
  t.same(endOf(rolloutOf({ stages }), counts, [], now), { end: null, endWaitsFor: 'approval' });
  t.equal(endOf(rolloutOf({ stages }, { approved: 0 }), counts, [], now).endWaitsFor, null, 'it is approved');
  t.same(endOf(rolloutOf({}, { state: 'paused' }), counts, [], now), { end: null, endWaitsFor: 'resume' });
  t.same(endOf(rolloutOf({ continuous: true }), counts, [], now), { end: null, endWaitsFor: 'cancel' });
  t.same(endOf(rolloutOf({}, { state: 'scheduled' }), counts, [], now), { end: null, endWaitsFor: null });
  t.same(endOf(rolloutOf({}), countsOf([0, 10]), [], now), { end: null, endWaitsFor: null }, 'it has no speed yet');
});
