import type { Choices } from './choices.ts';
import type { Action, Phase } from './scenario-of.ts';

/** The share of the rollouts that have such a rule; each rule is drawn by itself. */
const SHARE = 0.2;
/** Networks can be tried; a device that does not reach the service with them takes its former ones again. */
const TRIED = ['setWifi', 'setApn'];

/** Gives rollouts rules that change which devices get a command, and when. They are drawn apart from the rest of a plan. */
export function withRolloutRules<Scenario extends { phases: Phase[] }>(
  { between, maybe, seconds }: Choices,
  scenario: Scenario,
): Scenario {
  const ruled = (action: Action): Action =>
    action.do === 'rollout'
      ? {
          ...action,
          ...(maybe(SHARE) && { maxUnfinished: between(1, 3) }),
          ...(maybe(SHARE) && { preferConnected: true }),
          ...(maybe(SHARE) && { supersede: true }),
          ...(maybe(SHARE) && TRIED.includes(action.operation ?? '') && { revertAfter: seconds(30, 50) }),
        }
      : action;
  return {
    ...scenario,
    phases: scenario.phases.map((phase) => ({ ...phase, ...(phase.actions && { actions: phase.actions.map(ruled) }) })),
  };
}
