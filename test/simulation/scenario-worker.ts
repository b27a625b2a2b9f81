// Plays included scenarios in worlds, one after another, and writes a line of JSON for each. `played-scenarios.ts` starts it.
import { writeSync } from 'node:fs';
import { openScenario } from '@lapel/device-sim/scenario/ready';
import type { Scale } from '@lapel/device-sim/scenario/scale';
import { play } from './play.ts';

/** A scenario in the size in which a world plays it. */
export interface SmallScenario {
  readonly name: string;
  readonly scale: Scale;
}

/** The facts about a scenario that was played in a world. */
export interface ScenarioTold {
  readonly name: string;
  /** How often each check has looked. */
  readonly looks: Readonly<Record<string, number>>;
  /** The expectations that do not hold, each with its story. */
  readonly broken: readonly string[];
}

const [given = '[]'] = process.argv.slice(2);

for (const { name, scale } of JSON.parse(given) as SmallScenario[]) {
  const { file } = openScenario(name);
  const { record } = await play({ seed: file.seed ?? 1, scenario: file, spells: [], deeds: [], aims: [] }, { scale });
  const broken = record.verdicts
    .filter(({ holds, value }) => !holds && value !== null)
    .map(({ text, shown, story }) => [`${text}: ${shown}`, ...story].join('\n    '));
  const told: ScenarioTold = { name, looks: record.looks ?? {}, broken };
  writeSync(1, `${JSON.stringify(told)}\n`);
}
process.exit(0);
