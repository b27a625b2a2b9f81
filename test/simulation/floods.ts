import type { Choices } from './choices.ts';
import type { Action, Phase } from './scenario-of.ts';
import type { Swarm } from './swarm.ts';

/** The share of the worlds with such a feature that have a flood. */
const SHARE = 0.3;

/**
 * Lets a receiver be slow with all webhooks, while each device gets many commands at once: so more results come than the
 * service keeps in memory for a receiver. Floods are drawn apart from the rest of a plan.
 */
export function withFlood<Scenario extends { phases: Phase[] }>(
  swarm: Swarm,
  { between, maybe, one }: Choices,
  scenario: Scenario,
): Scenario {
  const [first, ...rest] = scenario.phases;
  if (!(swarm.has('bursts') || swarm.has('bad-receiver')) || !maybe(SHARE) || !first) return scenario;
  const actions = (['setWifi', 'setApn'] as const).map(
    (action): Action => ({ do: action, each: between(5, 8), within: '2s' }),
  );
  const flooded: Phase = {
    ...first,
    actions: [
      ...(first.actions ?? []).filter(({ do: doing }) => doing !== 'setWifi' && doing !== 'setApn'),
      ...actions,
    ],
    receiver: [{ fault: one(['slow', 'slow', 'slow-body']), share: '100 %' }],
  };
  return { ...scenario, phases: [flooded, ...rest] };
}
