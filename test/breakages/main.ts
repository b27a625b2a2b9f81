import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { plainText } from '@lapel/device-sim/plain-text';
import { BREAKAGES } from './breakages.ts';
import { HELP, readCommandLine, type Wanted, WrongUsage } from './command-line.ts';
import { breakageRow, closing, listRow, unbrokenClosing, unbrokenRow } from './rows.ts';
import { tryBreakages } from './try-breakages.ts';
import { tryUnbroken } from './try-unbroken.ts';

const FAILED = 1;
const BAD_USAGE = 2;
/** How many breakages may stay unfound, when all are tried. */
const MOST_MISSED = 2;

const sayLines = (lines: readonly string[]): void =>
  void process.stdout.write(lines.map((line) => `${plainText(line)}\n`).join(''));

async function breakAll({ breakages, jobs }: Wanted, folder: string): Promise<number> {
  const tried = await tryBreakages(breakages, { jobs, folder, onTried: (one) => sayLines(breakageRow(one)) });
  sayLines(closing(tried));
  const missed = tried.filter(({ found }) => !found).length;
  const allowed = breakages.length === BREAKAGES.length ? MOST_MISSED : 0;
  return missed > allowed || tried.some(({ isBroken }) => isBroken) ? FAILED : 0;
}

async function playUnbroken({ runs, jobs }: Wanted, folder: string): Promise<number> {
  const played = await tryUnbroken(runs, { jobs, folder, onPlayed: (one) => sayLines(unbrokenRow(one)) });
  sayLines(unbrokenClosing(played));
  return played.some(({ outcome }) => outcome === 'alarm') ? FAILED : 0;
}

/** The folder of all runs. Throws WrongUsage. */
function folderFor({ keep }: Wanted): string {
  if (keep === undefined) return mkdtempSync(join(tmpdir(), 'lapel-breakages-'));
  try {
    mkdirSync(keep);
  } catch (error) {
    throw new WrongUsage(`--keep: the folder cannot be made: ${(error as Error).message}`);
  }
  return resolve(keep);
}

async function carryOut(wanted: Wanted): Promise<number> {
  if (wanted.do === 'help') process.stdout.write(HELP);
  if (wanted.do === 'list') sayLines(wanted.breakages.map(listRow));
  if (wanted.do === 'help' || wanted.do === 'list') return 0;
  const folder = folderFor(wanted);
  try {
    return await (wanted.do === 'break' ? breakAll(wanted, folder) : playUnbroken(wanted, folder));
  } finally {
    if (wanted.keep === undefined) rmSync(folder, { recursive: true, force: true });
  }
}

try {
  process.exitCode = await carryOut(readCommandLine(process.argv.slice(2), BREAKAGES));
} catch (error) {
  if (!(error instanceof WrongUsage)) throw error;
  process.stderr.write(`${plainText(error.message)}\n\n${HELP}`);
  process.exitCode = BAD_USAGE;
}
