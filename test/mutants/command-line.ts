import { parseArgs } from 'node:util';

export const HELP = `npm run try -- mutants [options]

Changes one place of src/core or src/edge at a time in a copy of the checkout, and runs the tests that belong to its room.
It prints each mutant with its fate: file:line, before -> after; and those again that no test has found. The exit code is
0, whatever survives; it is 1 if tests fail without a mutant, and 2 if the command line is wrong.

  --seed N    chooses the places; the same seed chooses the same ones (1)
  --count N   how many mutants are tried (20)
  --in TEXT   only files whose path has this text
  --jobs N    how many are tried at a time (1)
  --bound N   seconds that a folder of tests may take (240)
  --list      lists the places, and tries none
`;

/** The faults of a command line, for people. */
export class WrongUsage extends Error {}

export interface Wanted {
  readonly do: 'help' | 'list' | 'try';
  readonly seed: number;
  readonly count: number;
  readonly jobs: number;
  readonly bound: number;
  /** The text in the paths of the files. */
  readonly within: string;
}

function countOf(name: string, text: string): number {
  if (!/^[1-9]\d{0,5}$/.test(text)) throw new WrongUsage(`--${name}: "${text}" is not a whole number from 1 to 999999`);
  return Number(text);
}

function read(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        seed: { type: 'string', default: '1' },
        count: { type: 'string', default: '20' },
        jobs: { type: 'string', default: '1' },
        bound: { type: 'string', default: '240' },
        in: { type: 'string', default: '' },
        list: { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h', default: false },
      },
    }).values;
  } catch (error) {
    throw new WrongUsage((error as Error).message);
  }
}

/** Reads the command line. Throws WrongUsage. */
export function readCommandLine(args: readonly string[]): Wanted {
  const { seed, count, jobs, bound, in: within, list, help } = read(args);
  return {
    do: help ? 'help' : list ? 'list' : 'try',
    seed: countOf('seed', seed),
    count: countOf('count', count),
    jobs: countOf('jobs', jobs),
    bound: countOf('bound', bound),
    within,
  };
}
