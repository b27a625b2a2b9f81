// Plays the worlds of the plans in a file, one after another, and writes a line of JSON for each. The command starts it.
import { readFileSync, writeSync } from 'node:fs';
import { excusedVerdicts } from './order.ts';
import { isTimeRight, mayRepeat, type Plan } from './plan.ts';
import { play } from './play.ts';
import { HARDLY_JUDGED, type Told, untold } from './told.ts';

/**
 * The least looks at the database; a world without them would hold whatever it does. In a world of half a minute the service may
 * be away for most of it.
 */
const fewestLooks = (milliseconds: number): number => (milliseconds < 60_000 ? 1 : 3);

const [plans = '', log = ''] = process.argv.slice(2);
const tell = (told: Told): void => void writeSync(1, `${JSON.stringify(told)}\n`);

/** The reason of a run whose fault never came. Where other trouble can keep everybody away, the rest of the world took place. */
const NEVER_CAME = /^played\(/;
const hasTrouble = ({ spells, aims, deeds, restore }: Plan): boolean =>
  spells.length + aims.length + deeds.length > 0 || restore !== undefined;

/** The simulator judges some rules that no scenario names, and that speak of times. */
const isJudged = (plan: Plan, text: string): boolean =>
  (isTimeRight(plan) || plan.scenario.expectations?.includes(text) === true) &&
  !(text === 'repeated == 0' && mayRepeat(plan));

for (const plan of JSON.parse(readFileSync(plans, 'utf8')) as Plan[]) {
  const began = process.hrtime.bigint();
  const took = (): number => Number((process.hrtime.bigint() - began) / 1_000_000n);
  const say = (line: string): void => void writeSync(2, line);
  try {
    const { record, seen, trace, events, milliseconds } = await play(
      plan,
      log === '' ? {} : { log: say, onEvent: say },
    );
    const excused = excusedVerdicts(record, seen.heldBack, {
      isTimeRight: isTimeRight(plan),
      takenBack: seen.takenBack,
    });
    const broken = record.verdicts
      .filter(({ text, holds, value }) => !holds && value !== null && isJudged(plan, text) && !excused.includes(text))
      .map(({ text, shown, story }) => [`${text}: ${shown}`, ...story].join('\n    '));
    const { meetings, looks } = seen;
    tell({
      seed: plan.seed,
      broken: [...broken, ...seen.broken, ...(looks < fewestLooks(milliseconds) ? [HARDLY_JUDGED] : [])],
      notRun: record.notRun.filter((reason) => !(hasTrouble(plan) && NEVER_CAME.test(reason))),
      trace,
      meetings,
      looks,
      rollouts: record.rollouts ?? [],
      events,
      milliseconds,
      took: took(),
    });
  } catch (error) {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    tell({ ...untold(plan.seed, text), took: took() });
  }
}
process.exit(0);
