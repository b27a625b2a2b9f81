import { createRandom, deriveSeed } from '@lapel/device-sim/random';
import { choicesOf } from './choices.ts';
import { encountersOf, loginsOf } from './encounters.ts';
import { withFlood } from './floods.ts';
import { PARTS } from './parts.ts';
import { type AimedEvent, isTimeRight, mayPassOver, type Plan, PROMISES, TIMELESS, withEvents } from './plan.ts';
import { quietOf } from './quiet.ts';
import { withRestore } from './restores.ts';
import { withRolloutRules } from './rollout-rules.ts';
import { OPERATORS, scenarioOf } from './scenario-of.ts';
import { surroundingsOf } from './surroundings.ts';
import { swarmOf } from './swarm.ts';
import { waitsOf, withWaits } from './waits.ts';

/** The share of the worlds whose customer has an ordered endpoint beside the URLs of its settings. */
const WITH_ENDPOINT = 0.25;
/** The share of the groups of devices that speak MQTT 5. */
const WITH_MQTT_5 = 0.3;

/** What happens in the world of a seed. Worlds are small and short: 3 to 9 devices, mostly a minute or two. */
export function planOf(seed: number): Plan {
  const of = (part: number) => choicesOf(createRandom(deriveSeed(seed, part)));
  const name = `world-${seed}`;
  const quiet = quietOf(of(PARTS.quiet));
  if (quiet) return { ...quiet, seed, spells: [], deeds: [], aims: [], scenario: { ...quiet.scenario, name, seed } };
  const choices = of(PARTS.plan);
  const swarm = swarmOf(choices);
  const ofWaits = of(PARTS.waits);
  const waits = waitsOf(swarm, ofWaits);
  const ofPrograms = of(PARTS.programs);
  const waiting = withWaits(waits, ofWaits, scenarioOf(swarm, choices));
  const flooded = withFlood(swarm, of(PARTS.floods), withRolloutRules(of(PARTS.rules), waiting));
  const groups = (flooded.groups ?? []).map((group) =>
    ofPrograms.maybe(WITH_MQTT_5) ? { ...group, mqtt: 5 as const } : group,
  );
  const scenario = { ...flooded, groups };
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
    ...(ofPrograms.maybe(WITH_ENDPOINT) && { hasEndpoint: true }),
    ...(swarm.has('little-room') && { inFlight: more.between(1, 3) }),
    scenario: { name, seed, ...scenario, settle: '10m' },
  });
  const expectations = isTimeRight(planned)
    ? PROMISES
    : TIMELESS.filter((promise) => !mayPassOver(planned) || promise !== 'unordered == 0');
  return { ...planned, scenario: { ...planned.scenario, expectations } };
}
