import { resolve } from 'node:path';
import { warmUp } from './closed-loop.ts';
import { startLapel } from './lapel-target.ts';
import { measureLoop, medianOf, type Options, type Sample } from './measure.ts';
import { OWN_CHECKOUT } from './processes.ts';
import { revisionOf, type Table } from './report.ts';

type Pair = Record<'other' | 'own', Sample>;

/** Measures the closed loop of this checkout and of another one. */
export async function runBeside({ beside, ...options }: Options & { beside: string }): Promise<Table> {
  const checkout = resolve(beside);
  if (checkout === resolve(OWN_CHECKOUT)) throw new Error('--beside needs the folder of another checkout');
  return {
    name: 'Beside another checkout',
    about: `The closed loop of revision ${revisionOf(OWN_CHECKOUT)} (own), and in turns of ${revisionOf(checkout)} (other).`,
    rows: await inTurns(options, { other: { checkout }, own: {} }),
  };
}

/** Measures the closed loop of devices that speak MQTT 5, and of those that speak 3.1.1. */
export async function runVersions(options: Options): Promise<Table> {
  return {
    name: 'MQTT 5 beside MQTT 3.1.1',
    about: `The closed loop of revision ${revisionOf(OWN_CHECKOUT)} with devices of MQTT 5 (own), and in turns of 3.1.1 (other).`,
    rows: await inTurns(options, { other: {}, own: { level: 5 } }),
  };
}

/**
 * Measures two services in turns: each round begins with the one that ended the round before. Both run all the time, so they
 * share the machine's load of each moment.
 */
async function inTurns(
  { seconds, rounds, devices, callers }: Options,
  given: Record<keyof Pair, Pick<Parameters<typeof startLapel>[0], 'checkout' | 'level'>>,
): Promise<Table['rows']> {
  await using stack = new AsyncDisposableStack(); // ends all processes, even after an error
  const start = async (side: keyof Pair) =>
    stack.adopt(await startLapel({ devices, ...given[side] }), (target) => target.close());
  const targets = { other: await start('other'), own: await start('own') };
  for (const target of Object.values(targets)) await warmUp(target);
  const rows = [];
  for (const count of callers) {
    const pairs: Pair[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const pair: Partial<Pair> = {};
      for (const side of round % 2 === 0 ? (['other', 'own'] as const) : (['own', 'other'] as const))
        pair[side] = await measureLoop(targets[side], count, seconds);
      pairs.push(pair as Pair);
    }
    const of = (side: 'other' | 'own', figure: keyof Sample): number => medianOf(pairs, (pair) => pair[side][figure]);
    /** The median of the ratios, with the lowest and the highest, which show the noise. */
    const ratio = (figure: keyof Sample): string => {
      const all = pairs.map(({ own, other }) => own[figure] / other[figure]).sort((one, two) => one - two);
      const [low, high] = [all[0] ?? Number.NaN, all.at(-1) ?? Number.NaN].map((each) => each.toFixed(2));
      return `${medianOf(all, (each) => each).toFixed(2)} (${low} to ${high})`;
    };
    rows.push({
      callers: count,
      'other loops/s': Math.round(of('other', 'rate')),
      'own loops/s': Math.round(of('own', 'rate')),
      'other main us/loop': Math.round(of('other', 'mainCpu')),
      'own main us/loop': Math.round(of('own', 'mainCpu')),
      'other commits/loop': Number(of('other', 'commits').toFixed(3)),
      'own commits/loop': Number(of('own', 'commits').toFixed(3)),
      'ratio of rates': ratio('rate'),
      'of main threads': ratio('mainCpu'),
      'of all threads': ratio('cpu'),
    });
  }
  return rows;
}
