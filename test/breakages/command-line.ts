import { parseArgs } from 'node:util';
import type { Breakage } from './breakage.ts';

export const HELP = `npm run try -- breakages [NAME...] [options]

Plants faults into copies of the service, one in each copy, and plays a scenario of the simulator against each copy.
The exit code is 0 if the simulator finds all named faults, or all faults except two at most if none is named. It is 1
otherwise, or if a patch no longer fits the source, and 2 if the command line is wrong.

  NAME...       the breakages to try (all)
  --jobs N      how many run at a time (2)
  --unbroken N  plays N runs against the service without a fault, beside two processes that burn time; the exit code is
                0 if there was no false alarm
  --keep DIR    keeps the reports, the data and the copies in this new folder
  --list        lists the breakages
`;

/** The faults of a command line, for people. */
export class WrongUsage extends Error {}

export interface Wanted {
  readonly do: 'help' | 'list' | 'break' | 'unbroken';
  readonly breakages: readonly Breakage[];
  readonly jobs: number;
  /** The number of runs without a fault. */
  readonly runs: number;
  /** The folder that keeps the reports; undefined: they are removed. */
  readonly keep: string | undefined;
}

function countOf(name: string, text: string): number {
  if (!/^[1-9]\d{0,3}$/.test(text)) throw new WrongUsage(`--${name}: "${text}" is not a whole number from 1 to 9999`);
  return Number(text);
}

function read(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        jobs: { type: 'string', default: '2' },
        unbroken: { type: 'string' },
        keep: { type: 'string' },
        list: { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h', default: false },
      },
    });
  } catch (error) {
    throw new WrongUsage((error as Error).message);
  }
}

/** Reads the command line. Throws WrongUsage. */
export function readCommandLine(args: readonly string[], all: readonly Breakage[]): Wanted {
  const { values, positionals } = read(args);
  const breakages = positionals.map((name) => {
    const found = all.find((one) => one.name === name);
    if (!found) throw new WrongUsage(`there is no breakage "${name}"; --list shows all`);
    return found;
  });
  if (values.unbroken !== undefined && breakages.length > 0)
    throw new WrongUsage('--unbroken: plants no fault, so it takes no names');
  return {
    do: values.help ? 'help' : values.list ? 'list' : values.unbroken === undefined ? 'break' : 'unbroken',
    breakages: breakages.length > 0 ? breakages : all,
    jobs: countOf('jobs', values.jobs),
    runs: values.unbroken === undefined ? 0 : countOf('unbroken', values.unbroken),
    keep: values.keep,
  };
}
