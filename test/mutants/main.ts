import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HELP, readCommandLine, type Wanted, WrongUsage } from './command-line.ts';
import { allSites, choose, shown } from './sites.ts';
import { FailsUnchanged, type Fate, tryMutants } from './try-mutants.ts';

const FAILED = 1;
const BAD_USAGE = 2;

const sayLine = (line: string): void => void process.stdout.write(`${line}\n`);

async function carryOut({ do: what, seed, count, jobs, bound, within }: Wanted): Promise<void> {
  if (what === 'help') return void process.stdout.write(HELP);
  const sites = choose(
    allSites().filter(({ file }) => file.includes(within)),
    seed,
    count,
  );
  if (what === 'list') return sites.map(shown).forEach(sayLine);
  const folder = mkdtempSync(join(tmpdir(), 'lapel-mutants-'));
  // A program that is ended by a signal has to remove its copies as well.
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(FAILED));
  const tried = await tryMutants(sites, {
    jobs,
    bound,
    folder,
    onTried: ({ site, fate }) => sayLine(`${fate.padEnd(9)} ${shown(site)}`),
  });
  const survivors = tried.filter(({ fate }) => fate === 'survived');
  if (survivors.length > 0) sayLine('\nNo test has found:');
  for (const { site } of survivors) sayLine(shown(site));
  const having = (wanted: Fate): number => tried.filter(({ fate }) => fate === wanted).length;
  sayLine(
    `\n${having('killed')} killed, ${having('survived')} survived, ${having('timed out')} timed out; seed ${seed}`,
  );
}

try {
  await carryOut(readCommandLine(process.argv.slice(2)));
} catch (error) {
  if (!(error instanceof WrongUsage || error instanceof FailsUnchanged)) throw error;
  process.stderr.write(`${error.message}\n${error instanceof WrongUsage ? `\n${HELP}` : ''}`);
  process.exitCode = error instanceof WrongUsage ? BAD_USAGE : FAILED;
}
