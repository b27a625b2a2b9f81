import type { Choices } from './choices.ts';
import { type Action, type Group, networkOf, type Phase } from './scenario-of.ts';
import type { Swarm } from './swarm.ts';

/** The shares of the worlds that can have them. */
const LONG_WAITS = 0.2;
const RETURNS = 0.7;
const SECOND_TRIES = 0.8;
/** Longer than one timer of the service may wait, which is a minute. */
const WAITS = ['80s', '100s', '130s'] as const;
/** Seconds that are added to the longest phase, so that what waits comes to its end in it. */
const LONGER = 100;

interface Scenario {
  phases: Phase[];
  groups?: Group[];
}

const secondsOf = ({ duration }: Phase): number => Number.parseInt(String(duration), 10);

/** Makes terms and soaks longer than a minute, and has hardly anything beside them. */
function withLongWaits<Some extends Scenario>({ one }: Choices, scenario: Some): Some {
  const wait = one(WAITS);
  const longer = (action: Action): Action => ({
    ...action,
    ...(action.expireIn !== undefined && { expireIn: wait }),
    ...(action.answerWithin !== undefined && { answerWithin: wait }),
    ...(action.stages && {
      stages: action.stages.map(({ continueWhen, ...stage }) => ({
        ...stage,
        ...(continueWhen && { continueWhen: { ...continueWhen, soakFor: wait } }),
      })),
    }),
  });
  const longest = scenario.phases.toSorted((one, other) => secondsOf(other) - secondsOf(one))[0];
  return {
    ...scenario,
    phases: scenario.phases.map((phase) => ({
      ...phase,
      ...(phase === longest && { duration: `${secondsOf(phase) + LONGER}s` }),
      ...(phase.actions && { actions: phase.actions.map(longer) }),
    })),
  };
}

/**
 * Lets devices that are away get commands at once, and come back when these have a few seconds left. They answer slowly,
 * because the answer to a command says what its PUBACK says.
 */
function withReturns<Some extends Scenario>({ between }: Choices, scenario: Some): Some {
  const burst: Action = { do: 'setApn', each: between(2, 5), within: '2s', expireIn: '60s' };
  const [before, during, after, ...rest] = scenario.phases;
  if (!before || !during || !after) return scenario;
  const away: Phase = {
    ...during,
    duration: `${between(56, 59)}s`,
    actions: [...(during.actions ?? []), burst],
    disconnect: { groups: ['two'], how: 'cut' },
  };
  return {
    ...scenario,
    ...(scenario.groups && {
      groups: scenario.groups.map(
        (group): Group =>
          group.name === 'two' ? { ...group, behaviour: { ...group.behaviour, latency: '1s-6s' } } : group,
      ),
    }),
    phases: [before, away, { ...after, connect: { groups: ['two'] } }, ...rest],
  };
}

/**
 * Lets a rollout give up commands that their devices are still carrying out, and make others for the same devices: then each
 * answer to a former command comes while the latest one waits behind it.
 */
function withSecondTries<Some extends Scenario>({ between }: Choices, scenario: Some): Some {
  const again: Action = {
    do: 'rollout',
    answerWithin: '60s',
    retry: { codes: ['NO_ANSWER'], attempts: between(2, 3), after: `${between(100, 1_500)}ms` },
    resume: '1s',
  };
  const network: Action = {
    ...again,
    after: `${between(0, 3_000)}ms`,
    operation: 'setWifi',
    parameters: [networkOf('second try')],
  };
  const lateness = { fault: 'answers-late', probability: `${between(60, 90)} %`, delay: '57s-75s' } as const;
  return {
    ...scenario,
    ...(scenario.groups && { groups: scenario.groups.map((group): Group => ({ ...group, faults: [lateness] })) }),
    phases: scenario.phases.map(({ actions = [], ...phase }, at) => ({
      ...phase,
      actions: [
        ...(at === 0 ? [network] : []),
        ...actions.filter((action) => action.do === 'rollout').map((action) => ({ ...action, ...again })),
      ],
    })),
  };
}

/**
 * The waits of a world: longer than any single timer of the service, devices that come back before the ends of commands, or
 * devices that answer after their rollout has given up.
 */
export type Waits = 'long' | 'returns' | 'second tries' | undefined;

export function waitsOf(swarm: Swarm, { maybe }: Choices): Waits {
  if (swarm.has('terms') && swarm.has('absences') && maybe(RETURNS)) return 'returns';
  if (swarm.has('terms') && maybe(LONG_WAITS)) return 'long';
  const canTryAgain = swarm.has('terms') && swarm.has('rollouts') && swarm.has('late-answers');
  return canTryAgain && maybe(SECOND_TRIES) ? 'second tries' : undefined;
}

/** Gives a world its waits. They are drawn apart from the rest of a plan. */
export function withWaits<Some extends Scenario>(waits: Waits, choices: Choices, scenario: Some): Some {
  if (waits === 'long') return withLongWaits(choices, scenario);
  if (waits === 'second tries') return withSecondTries(choices, scenario);
  return waits === 'returns' ? withReturns(choices, scenario) : scenario;
}
