// Plays the worlds of the plans in a file, one after another, and writes a line of JSON for each. The command starts it.
import { readFileSync, writeSync } from 'node:fs';
import type { Plan } from './plan.ts';
import { play } from './play.ts';

/** The facts of a world that the command gets. */
export interface Told {
  readonly seed: number;
  /** The expectations that do not hold, each with what is known of it; or the error that ended the world. */
  readonly broken: readonly string[];
  /** Why the world showed nothing, if it did not take place. */
  readonly notRun: readonly string[];
  readonly trace: string;
  readonly events: number;
  readonly milliseconds: number;
  /** Milliseconds of this machine. */
  readonly took: number;
}

const [plans = '', log = ''] = process.argv.slice(2);
const tell = (told: Told): void => void writeSync(1, `${JSON.stringify(told)}\n`);

/** The simulator judges some rules that no scenario names, and that speak of times. */
const isJudged = ({ spells, scenario }: Plan, text: string): boolean =>
  !spells.some(({ kind }) => kind === 'clock') || scenario.expectations?.includes(text) === true;

for (const plan of JSON.parse(readFileSync(plans, 'utf8')) as Plan[]) {
  const began = process.hrtime.bigint();
  const took = (): number => Number((process.hrtime.bigint() - began) / 1_000_000n);
  const say = (line: string): void => void writeSync(2, line);
  try {
    const { record, trace, events, milliseconds } = await play(plan, log === '' ? {} : { log: say, onEvent: say });
    const broken = record.verdicts
      .filter(({ text, holds, value }) => !holds && value !== null && isJudged(plan, text))
      .map(({ text, shown, story }) => [`${text}: ${shown}`, ...story].join('\n    '));
    tell({ seed: plan.seed, broken, notRun: record.notRun, trace, events, milliseconds, took: took() });
  } catch (error) {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    tell({ seed: plan.seed, broken: [text], notRun: [], trace: '', events: 0, milliseconds: 0, took: took() });
  }
}
process.exit(0);
