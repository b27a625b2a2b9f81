import type { Migration } from './migration-files.ts';

/** Rows of each table that are copied to measure a migration. */
export const SAMPLE_ROWS = 20_000;

/** The effects of one migration. Times and sizes are measured on a sample, so they are estimates. */
export interface Step {
  name: string;
  /** The tables whose rows it reads or writes, with their rows. */
  tables: { table: string; rows: number }[];
  /** Null when it could not be measured. */
  seconds: number | null;
  /** Bytes by which the database grows. */
  grows: number;
  /** Bytes of the write-ahead log until its commit. */
  log: number;
}

export interface Plan {
  /** The schemas, by the number of their last migration. */
  from: number;
  to: number;
  steps: Step[];
  /** Free bytes of the disk; null when they cannot be seen from here. */
  free: number | null;
}

/** A migration on a sample: its time, and the bytes that it wrote. */
export interface Measured {
  seconds: number;
  grows: number;
  log: number;
}

/** Receives each line about an upgrade, for people. */
export type Told = (line: string) => void;

export const NO_WAY_BACK =
  'Take a copy first, there is no way back: an older release refuses the database from then on';

export const statementsOf = (text: string): string[] =>
  text
    .replaceAll(/--.*$/gm, '')
    .split(';')
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '');

/** Statements that take the same time for any number of rows. */
const AT_ONCE = [
  /^CREATE TABLE\b/i,
  /^DROP INDEX\b/i,
  /^CREATE (OR REPLACE )?(FUNCTION|TRIGGER)\b/i,
  /^ALTER TABLE \w+ (ADD COLUMN (?!.*\bSTORED\b)|ALTER COLUMN \w+ SET DEFAULT\b|SET \(|RENAME\b)/is,
];

/** The tables, out of those that exist, whose rows a migration reads or writes. */
export function tablesTouchedBy(text: string, existing: ReadonlySet<string>): string[] {
  const costly = statementsOf(text).filter((statement) => !AT_ONCE.some((kind) => kind.test(statement)));
  return [...new Set(costly.flatMap((statement) => statement.match(/\w+/g) ?? []))].filter((word) =>
    existing.has(word),
  );
}

/**
 * The estimate of a migration: what it cost without rows, and, for each row of the database, what it cost for a row of the
 * sample beyond that.
 */
export function stepOf(
  { name }: Migration,
  tables: Step['tables'],
  measured: { empty: Measured; sample: Measured } | null,
): Step {
  if (!measured) return { name, tables, seconds: null, grows: 0, log: 0 };
  const { empty, sample } = measured;
  // The table with the most rows decides, so that a small table beside it does not make the estimate too high.
  const times = Math.max(0, ...tables.map(({ rows }) => rows / Math.min(Math.max(rows, 1), SAMPLE_ROWS)));
  const whole = (part: keyof Measured): number => empty[part] + Math.max(0, sample[part] - empty[part]) * times;
  return { name, tables, seconds: whole('seconds'), grows: whole('grows'), log: whole('log') };
}

/** The bytes that must be free: the database grows by all steps, and the log is used again after each commit. */
export const bytesOf = ({ steps }: Plan): number =>
  steps.reduce((sum, { grows }) => sum + grows, 0) + Math.max(0, ...steps.map(({ log }) => log));

/** True when the disk has too little room. A tenth more than the estimate must be free. */
export const isTooLarge = (plan: Plan): boolean => plan.free !== null && bytesOf(plan) * 1.1 > plan.free;

const sizeText = (bytes: number): string => `${(bytes / 1024 ** 2).toFixed(1)} MiB`;

function timeText(seconds: number | null): string {
  if (seconds === null) return 'an unknown time';
  if (seconds < 1) return 'less than a second';
  return seconds < 120 ? `about ${Math.ceil(seconds)} s` : `about ${Math.ceil(seconds / 60)} minutes`;
}

const titleOf = (name: string): string => name.replace(/\.sql$/, '');

/** The whole plan in one line. */
export function summaryOf(plan: Plan): string {
  const { from, to, steps, free } = plan;
  const times = steps.map(({ seconds }) => seconds);
  const sum = times.some((seconds) => seconds === null)
    ? null
    : times.reduce<number>((all, one) => all + (one ?? 0), 0);
  const room = free === null ? 'the free disk of the server cannot be seen from here' : `${sizeText(free)} are free`;
  const count = steps.length === 1 ? '1 migration' : `${steps.length} migrations`;
  return `schema ${from} to ${to}: ${count}, ${timeText(sum)}, ${sizeText(bytesOf(plan))} more disk; ${room}`;
}

/** One line for a step: its name, the rows that it touches, its time and its disk. */
export function stepText({ name, tables, seconds, grows, log }: Step): string {
  const rows = tables.map(({ table, rows: count }) => `${table} (${count} rows)`).join(', ') || 'no rows';
  return `${titleOf(name)}: ${rows}, ${timeText(seconds)}, ${sizeText(grows + log)}`;
}

/** The sentence that refuses a migration without room. */
export const noRoom = (plan: Plan): string =>
  `the disk is too small for the migration: it needs about ${sizeText(bytesOf(plan) * 1.1)}, and ${sizeText(plan.free ?? 0)} are free`;

/** Tells the plan before the first step. */
export function tellPlan(plan: Plan, told: Told): void {
  told(summaryOf(plan));
  for (const step of plan.steps) told(`  ${stepText(step)}`);
}
