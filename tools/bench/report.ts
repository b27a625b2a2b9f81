import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cpus, release, totalmem } from 'node:os';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { OWN_CHECKOUT } from './processes.ts';

type Cell = string | number;
/** A row of a table; its first column names it. */
export type Row = Record<string, Cell>;

export interface Table {
  name: string;
  /** What was measured, and which figure each value is compared with. */
  about: string;
  rows: Row[];
}

export interface Report {
  /** When the report was made (ISO 8601). */
  at: string;
  revision: string;
  machine: string;
  versions: string;
  tables: Table[];
}

function git(checkout: string, ...args: string[]): string {
  return spawnSync('git', args, { cwd: checkout, encoding: 'utf8' }).stdout?.trim() ?? '';
}

/** The revision of a checkout, and whether files have changed since. */
export function revisionOf(checkout: string): string {
  const changed = git(checkout, 'status', '--porcelain') === '' ? '' : ' with changes';
  return `${git(checkout, 'rev-parse', '--short', 'HEAD') || 'unknown'}${changed}`;
}

function sqliteVersion(): string {
  const database = new Sqlite(':memory:');
  const { version } = database.prepare('SELECT sqlite_version() AS version').get() as { version: string };
  database.close();
  return version;
}

/** Makes the report: the tables, the machine and the versions. */
export function makeReport(tables: Table[]): Report {
  const { version } = JSON.parse(readFileSync(join(OWN_CHECKOUT, 'package.json'), 'utf8')) as { version: string };
  return {
    at: new Date().toISOString(),
    revision: revisionOf(OWN_CHECKOUT),
    machine: `${cpus().length} x ${cpus()[0]?.model ?? 'unknown'}, ${Math.round(totalmem() / 1024 ** 3)} GiB, ${process.platform} ${release()}`,
    versions: `Lapel ${version}, Node ${process.versions.node}, SQLite ${sqliteVersion()}`,
    tables,
  };
}

const isNumber = (cell: Cell | undefined): cell is number => typeof cell === 'number' && Number.isFinite(cell);

/** The text of a cell. With an earlier report, its value there and the change follow. */
function compared(now: Cell, before: Cell | undefined): string {
  if (!isNumber(now) || !isNumber(before) || before === 0) return String(now);
  const percent = Math.round((now / before - 1) * 100);
  return `${now} (${before}, ${percent >= 0 ? '+' : ''}${percent} %)`;
}

const keyOf = (row: Row): Cell | undefined => Object.values(row)[0];

/** The lines of a table alone. With an earlier table, each figure is followed by its former value and the change. */
export function rowLines(rows: readonly Row[], before?: Table): string[] {
  const columns = Object.keys(rows[0] ?? {});
  const line = (cells: string[]): string => `| ${cells.join(' | ')} |`;
  return [
    line(columns),
    line(columns.map((column) => (isNumber(rows[0]?.[column]) ? '---:' : '---'))),
    ...rows.map((row) => {
      const former = before?.rows.find((other) => keyOf(other) === keyOf(row));
      return line(
        columns.map((column, index) => compared(row[column] ?? '', index === 0 ? undefined : former?.[column])),
      );
    }),
  ];
}

const tableLines = ({ name, about, rows }: Table, before: Table | undefined): string[] => [
  `## ${name}`,
  '',
  about,
  '',
  ...rowLines(rows, before),
  '',
];

/** Formats a report as Markdown. With an earlier report, each figure is followed by its former value and the change. */
export function toMarkdown(report: Report, before?: Report): string {
  const { at, revision, machine, versions, tables } = report;
  const than = before && [`Compared with revision ${before.revision} of ${before.at}: (before, change).`, ''];
  return [
    `# Lapel bench, revision ${revision}`,
    '',
    `${at}; ${versions}; ${machine}. The load generator runs on the same machine: only ratios of one run mean something.`,
    '',
    ...(than ?? []),
    ...tables.flatMap((table) =>
      tableLines(
        table,
        before?.tables.find(({ name }) => name === table.name),
      ),
    ),
  ].join('\n');
}
