import { join } from 'node:path';
import { openScenario } from '@lapel/device-sim/scenario/ready';
import type { ScenarioFile } from '@lapel/device-sim/scenario/scenario-file';
import type { Choices } from './choices.ts';
import type { Plan } from './plan.ts';

/** The share of the worlds that are quiet. */
const SHARE = 0.1;

/** The scenarios of test/breakages/scenarios that quiet worlds play. */
const PLAYED = [
  'advance',
  'away',
  'beside-neighbour',
  'contract',
  'crash',
  'everyday',
  'faulty',
  'load',
  'programs',
  'receiver',
  'rollouts',
  'slow-readers',
] as const;

const FOLDER = join(import.meta.dirname, '../breakages/scenarios');
const files = new Map<string, ScenarioFile>();

function fileOf(name: (typeof PLAYED)[number] | 'neighbour'): ScenarioFile {
  const known = files.get(name);
  if (known) return known;
  const { takesPlace, ...rest } = openScenario(join(FOLDER, `${name}.yaml`)).file;
  // With some seeds a device fails its activation, or a rare fault never comes. So neither is a condition here.
  const file = { ...rest, takesPlace: { ...takesPlace, activated: '90 %', faults: false } };
  files.set(name, file);
  return file;
}

/**
 * The scenario of a quiet world. Nothing happens to its service, but a kill in `crash`. So it is judged by everything that a
 * customer can see. Undefined for all
 * other worlds.
 */
export function quietOf({ maybe, one, milliseconds }: Choices): Pick<Plan, 'scenario' | 'beside'> | undefined {
  if (!maybe(SHARE)) return undefined;
  const name = one(PLAYED);
  const scenario = fileOf(name);
  if (name === 'beside-neighbour') return { scenario, beside: fileOf('neighbour') };
  if (name !== 'crash') return { scenario };
  const [first, ...others] = scenario.phases;
  const kill = { fault: 'kill', after: milliseconds(1_000, 4_500), lasts: milliseconds(100, 600) } as const;
  return { scenario: { ...scenario, phases: [{ ...first!, service: [kill] }, ...others] } };
}
