import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findPostgres } from '../../harness/postgres-server.ts';
import { OWN_CHECKOUT } from '../processes.ts';
import { type Report, rowLines } from '../report.ts';
import { findProgram } from './stores.ts';

const PAGE = join(OWN_CHECKOUT, 'docs/benchmark.md');
/** The marks of the page, and the table of each. */
const MARKS = { loops: 'Loops of peers', fastest: 'Lapel and the fastest peer', kills: 'Kills' } as const;
const OWN_MARKS = { endpoints: 'Endpoints beside hanging ones', order: 'Order of devices' } as const;

function versions(): string {
  const manifest = JSON.parse(readFileSync(join(import.meta.dirname, 'package.json'), 'utf8')) as {
    dependencies: Record<string, string>;
  };
  const libraries = Object.entries(manifest.dependencies).map(([name, version]) => `${name} ${version}`);
  const numberOf = (file: string, ...args: string[]): string =>
    /\d+(?:\.\d+)+/.exec(execFileSync(file, args, { encoding: 'utf8' }))?.[0] ?? 'unknown';
  const programs = [
    `Redis ${numberOf(findProgram('redis-server') ?? '', '--version')}`,
    `Mosquitto ${numberOf('sh', '-c', `${findProgram('mosquitto') ?? ''} -h || true`)}`,
    `PostgreSQL ${numberOf(join(findPostgres() ?? '', 'postgres'), '--version')}`,
  ];
  return [...programs, ...libraries].join(', ');
}

/** Puts a text between the marks `<!-- NAME -->` and `<!-- /NAME -->` of a page. */
export function between(page: string, mark: string, text: string): string {
  const [begin, end] = [`<!-- ${mark} -->`, `<!-- /${mark} -->`];
  const [from, to] = [page.indexOf(begin), page.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`the page has no ${begin} ... ${end}`);
  return `${page.slice(0, from + begin.length)}\n\n${text}\n\n${page.slice(to)}`;
}

/** Writes the tables of a report of all peers, or of endpoints, into docs/benchmark.md; a table that was not measured stays as it is. */
export function writeBenchmark(report: Report): void {
  const { at, revision, machine, versions: own, tables } = report;
  let page = readFileSync(PAGE, 'utf8');
  for (const [mark, name] of Object.entries({ ...MARKS, ...OWN_MARKS })) {
    const table = tables.find((each) => each.name === name);
    if (!table) continue;
    const lines = [`${table.about} Measured at ${at}, revision ${revision}.`, '', ...rowLines(table.rows)];
    page = between(page, mark, lines.join('\n'));
  }
  // Tables that stay have been measured on the machine, and with the versions, that the page names.
  const isWhole = Object.values(MARKS).every((name) => tables.some((each) => each.name === name));
  if (isWhole) page = between(page, 'machine', `${machine}. ${own}. ${versions()}.`);
  writeFileSync(PAGE, page);
}
