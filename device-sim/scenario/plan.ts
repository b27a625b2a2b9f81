import { createRandom, deriveSeed, draw } from '../random.ts';
import type { PlannedAction, Scenario } from './scenario.ts';

/**
 * The indexes of the devices of some groups. The devices of a scenario are numbered from 0, beginning with the first
 * group.
 */
export function placesOf(scenario: Scenario, groups: readonly string[]): number[] {
  const places: number[] = [];
  let first = 0;
  for (const { name, count } of scenario.groups) {
    if (groups.includes(name)) for (let at = 0; at < count; at += 1) places.push(first + at);
    first += count;
  }
  return places;
}

/** These indexes in a random order, which only the seed decides. */
export function shuffled(places: readonly number[], seed: number): number[] {
  const lots = new Map(places.map((place) => [place, deriveSeed(seed, place)]));
  return places.toSorted((a, b) => lots.get(a)! - lots.get(b)! || a - b);
}

/**
 * One action of a phase with all its repetitions: on which device each happens, and when. They are the same in each run
 * of the scenario, whatever the service does.
 */
export interface Plan {
  readonly action: PlannedAction;
  /** The number of repetitions; infinite in a phase without an end. */
  readonly total: number;
  /** When the n-th repetition (from 0) is due, in milliseconds since the phase began. */
  dueAt(n: number): number;
  /** The index of the device for the n-th repetition. */
  placeOf(n: number): number;
  /** The number of the n-th repetition among all actions of the run, from 1. */
  numberOf(n: number): number;
}

/**
 * Plans the actions of a phase in one of its rounds. Only the seed, the phase, the action and the number of a
 * repetition decide which device it gets.
 */
export function plansOf(scenario: Scenario, round: number, phaseAt: number): Plan[] {
  const before = actionsBefore(scenario, round, phaseAt);
  const { actions, duration } = scenario.phases[phaseAt]!;
  const plans: Plan[] = [];
  let first = before;
  actions.forEach((action, at) => {
    const all = placesOf(scenario, action.groups);
    const own = deriveSeed(scenario.seed, 11, phaseAt, at);
    const chosen = shuffled(all, own).slice(0, Math.round(action.share * all.length));
    const total = totalOf(action, chosen.length, duration);
    const base = first;
    // In a phase without an end the actions share all further numbers: the first action takes every k-th one, the
    // second the numbers behind these, and so on. No later phase needs numbers.
    const step = Number.isFinite(total) ? 1 : actions.length;
    const dueAt = timesOf(action, chosen.length, duration);
    const draws = deriveSeed(own, round);
    plans.push({
      action,
      total: chosen.length === 0 ? 0 : total,
      dueAt,
      placeOf: (n) =>
        'each' in action.pace
          ? chosen[n % chosen.length]!
          : chosen[Math.floor(createRandom(deriveSeed(draws, n))() * chosen.length)]!,
      numberOf: (n) => base + n * step + (step === 1 ? 1 : 1 + at),
    });
    if (Number.isFinite(total)) first += total;
  });
  return plans;
}

function paceOf({ pace }: PlannedAction, devices: number, duration: number | null): number {
  if ('perSecond' in pace) return pace.perSecond / 1000;
  // Nine tenths of the time, so that the last repetitions begin before the phase is over.
  return (pace.each * devices) / Math.max(1, 0.9 * (pace.within ?? duration ?? 0));
}

/** When the n-th repetition is due, in milliseconds since the phase began. */
function timesOf(action: PlannedAction, devices: number, duration: number | null): (n: number) => number {
  const { pace } = action;
  const perMillisecond = paceOf(action, devices, duration);
  if (!('toPerSecond' in pace) || pace.toPerSecond === undefined || duration === null || duration === 0)
    return (n) => n / perMillisecond;
  const growth = (pace.toPerSecond / 1000 - perMillisecond) / (2 * duration);
  if (growth === 0) return (n) => n / perMillisecond;
  // The number of repetitions until t is perMillisecond * t + growth * t².
  return (n) => (Math.sqrt(Math.max(0, perMillisecond ** 2 + 4 * growth * n)) - perMillisecond) / (2 * growth);
}

function totalOf({ pace }: PlannedAction, devices: number, duration: number | null): number {
  if ('each' in pace) return pace.each * devices;
  const { perSecond, toPerSecond = perSecond } = pace;
  return duration === null ? Number.POSITIVE_INFINITY : Math.floor((((perSecond + toPerSecond) / 2) * duration) / 1000);
}

/** The number of actions in a phase, the same in each round. */
function actionsIn(scenario: Scenario, phaseAt: number): number {
  const { actions, duration } = scenario.phases[phaseAt]!;
  return actions.reduce((sum, action) => {
    const all = placesOf(scenario, action.groups).length;
    const total = totalOf(action, Math.round(action.share * all), duration);
    return sum + (Number.isFinite(total) ? total : 0);
  }, 0);
}

function actionsBefore(scenario: Scenario, round: number, phaseAt: number): number {
  let sum = 0;
  scenario.phases.forEach((_, at) => {
    sum += actionsIn(scenario, at) * (round + (at < phaseAt ? 1 : 0));
  });
  return sum;
}

/**
 * A call of a wearer. The number of the action decides its length, whether it is recorded, and the number of
 * participants.
 */
export function callOf(
  seed: number,
  number: number,
  life: { callLength: { min: number; max: number }; recorded: number },
) {
  const random = createRandom(deriveSeed(seed, 12, number));
  const milliseconds = draw(random, life.callLength);
  const recorded = random() < life.recorded;
  return { milliseconds, recorded, others: 1 + Math.floor(random() * 3) };
}
