import { openOf } from '@lapel/schemas/base/rollouts';
import type { RolloutDetails } from '@lapel/schemas/contracts/types';
import { byState, type Count, resultsSoFar } from '../core/rollouts/counts.ts';
import type { Rollout, Stage, Window } from '../core/rollouts/rollout.ts';
import type { Entry } from '../core/rollouts/rollout-repository.ts';
import { isOpen } from '../core/rollouts/window.ts';
import type { Micros } from '../runtime/units.ts';

const SECOND: Micros = 1_000_000;
/** Windows are followed in steps of so long, and for so many of them at most: 90 days. */
const STEP: Micros = 900 * SECOND;
const MOST_STEPS = 8_640;
/** The most steps of the past, so that a rollout of months is not followed minute by minute. */
const MOST_PAST_STEPS = 500;

type End = Pick<RolloutDetails, 'endWaitsFor'> & { end: Micros | null };
const soakOf = ({ continueWhen }: Stage): Micros => (continueWhen?.soakFor ?? 0) * SECOND;

/** The time at which some work is done that is carried on in the windows only; null when it takes too long to follow. */
function endOfWork(from: Micros, work: Micros, window: Window | undefined): Micros | null {
  if (!window) return from + work;
  let [now, left] = [from, work];
  for (let steps = 0; steps < MOST_STEPS; steps += 1) {
    const until = now - (now % STEP) + STEP;
    if (isOpen(window, now)) {
      if (left <= until - now) return now + left;
      left -= until - now;
    }
    now = until;
  }
  return null;
}

/** The microseconds between two times in which the window is open. */
function openTime(from: Micros, to: Micros, window: Window | undefined): Micros {
  if (!window) return to - from;
  const step = Math.max(STEP, (to - from) / MOST_PAST_STEPS);
  let open = 0;
  for (let at = from; at < to; at += step) if (isOpen(window, at)) open += Math.min(step, to - at);
  return open;
}

/** Results in a microsecond of the time in which devices had something to do; null before the first result. */
function speedOf(rollout: Rollout, counts: readonly Count[], entries: readonly Entry[], now: Micros): number | null {
  const { plan, startedAt, shareSince, stage } = rollout;
  const since = plan.since ?? { at: startedAt ?? now, results: 0 };
  const results = resultsSoFar(counts) - since.results;
  // In a soak, and while a stage waits for its approval, the devices have nothing to do.
  const soaked = entries
    .filter(({ event, stage: begun, at }) => event === 'stageStarted' && (begun ?? 0) > 0 && at > since.at)
    .reduce((sum, { stage: begun }) => sum + soakOf(plan.stages[(begun ?? 1) - 1] ?? { devices: 0 }), 0);
  const soaks = shareSince === null || stage >= plan.stages.length - 1 ? 0 : now - Math.max(shareSince, since.at);
  const whole = openTime(since.at, now, plan.window);
  // Soaks may lie outside of the windows, and late results come in them: then the whole time is the better guess.
  const worked = whole - soaked - soaks > 0 ? whole - soaked - soaks : whole;
  return results > 0 && worked > 0 ? results / worked : null;
}

/** The time at which a rollout would end at its speed, or the event that its end waits for, if nobody knows its time. */
export function endOf(rollout: Rollout, counts: readonly Count[], entries: readonly Entry[], now: Micros): End {
  const { state, plan, stage, approved, shareSince } = rollout;
  const { stages, window, continuous } = plan;
  if (state === 'paused') return { end: null, endWaitsFor: 'resume' };
  if (state !== 'running') return { end: null, endWaitsFor: null };
  if (continuous) return { end: null, endWaitsFor: 'cancel' };
  const last = stages.length - 1;
  const asks = stages.some(
    ({ approval }, index) => index >= Math.max(0, stage) && index < last && approval && approved < index,
  );
  if (asks) return { end: null, endWaitsFor: 'approval' };
  const speed = speedOf(rollout, counts, entries, now);
  if (speed === null) return { end: null, endWaitsFor: null };
  let at: Micros | null = now;
  for (const [index, rules] of stages.entries()) {
    if (at === null) break;
    const isSoaking = index === stage && shareSince !== null;
    const open = openOf(byState(counts, index));
    const done: Micros | null = open === 0 ? at : endOfWork(at, open / speed, window);
    if (index === last || index < stage) at = done;
    else if (isSoaking) at = Math.max(at, (shareSince ?? 0) + soakOf(rules));
    else at = done === null ? null : done + soakOf(rules);
  }
  return { end: at === null ? null : Math.round(at), endWaitsFor: null };
}
