import { createRandom, deriveSeed } from '@lapel/device-sim/random';
import { choicesOf } from './choices.ts';
import { encountersOf, loginsOf } from './encounters.ts';
import { withFlood } from './floods.ts';
import { PARTS } from './parts.ts';
import { type AimedEvent, hasFarLeap, isTimeRight, type Plan, PROMISES, TIMELESS, withEvents } from './plan.ts';
import { withRestore } from './restores.ts';
import { OPERATORS, scenarioOf } from './scenario-of.ts';
import { surroundingsOf } from './surroundings.ts';
import { swarmOf } from './swarm.ts';
import { waitsOf, withWaits } from './waits.ts';

/** What happens in the world of a seed. Worlds are small and short: 3 to 9 devices, mostly a minute or two. */
export function planOf(seed: number): Plan {
  const of = (part: number) => choicesOf(createRandom(deriveSeed(seed, part)));
  const choices = of(PARTS.plan);
  const swarm = swarmOf(choices);
  const ofWaits = of(PARTS.waits);
  const waits = waitsOf(swarm, ofWaits);
  const scenario = withFlood(swarm, of(PARTS.floods), withWaits(waits, ofWaits, scenarioOf(swarm, choices)));
  const { phases } = scenario;
  const length = phases.reduce((sum, { duration }) => sum + Number.parseInt(String(duration), 10) * 1000, 0);
  const more = of(PARTS.surroundings);
  // The operator of a scenario wants to see at a device that its connection has ended, which a silent one never tells.
  const hasOperator = phases.some(({ actions = [] }) =>
    actions.some((action) => OPERATORS.some((one) => one === action.do)),
  );
  const told = (does: AimedEvent): AimedEvent => (does === 'silence' && hasOperator ? 'cuts' : does);
  const drawn = surroundingsOf(swarm, more, length);
  const aims = [
    ...drawn.aims,
    ...encountersOf(swarm, of(PARTS.encounters), length, waits),
    ...loginsOf(swarm, of(PARTS.logins), length),
  ];
  const surroundings = withEvents({ ...drawn, aims }, told);
  const planned = withRestore({
    seed,
    ...surroundings,
    ...(swarm.has('little-room') && { inFlight: more.between(1, 3) }),
    scenario: { name: `world-${seed}`, seed, ...scenario, settle: '10m' },
  });
  // Commands that may have expired are passed over until the clock is believed again, and are sent if it was wrong.
  const expectations = isTimeRight(planned)
    ? PROMISES
    : TIMELESS.filter((promise) => !hasFarLeap(planned) || promise !== 'unordered == 0');
  return { ...planned, scenario: { ...planned.scenario, expectations } };
}
