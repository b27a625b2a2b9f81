import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { Known } from '@lapel/tools/scripts/fixture/fill';
import Sqlite from 'better-sqlite3';
import { Client } from 'pg';
import { readMigrations } from '../../../src/platform/database/migration-files.ts';
import { openConnection } from '../../../src/platform/database/postgres/connection.ts';
import { migrate } from '../../../src/platform/database/postgres/migrations.ts';
import { MIGRATING } from '../../../src/platform/database/postgres/open-postgres.ts';
import { migrate as migrateSqlite } from '../../../src/platform/database/sqlite/migrations.ts';

/** The folder of the fixtures: a database of every schema, as SQL. */
export const SCHEMAS = import.meta.dirname;

/** The numbers of the schemas that have a fixture, in order. */
export const fixtureNumbers = (): number[] =>
  readdirSync(SCHEMAS)
    .filter((name) => name.endsWith('.sql.gz'))
    .map((name) => Number(name.slice(0, 4)))
    .sort((a, b) => a - b);

/** The statements of a fixture, with what a test must know besides; `receiver` takes the place of its webhooks' URL. */
export function readFixture(number: number, receiver?: string): { known: Known; text: string } {
  const file = join(SCHEMAS, `${String(number).padStart(4, '0')}.sql.gz`);
  const text = gunzipSync(readFileSync(file)).toString();
  const known = JSON.parse(text.slice('-- '.length, text.indexOf('\n'))) as Known;
  return { known, text: receiver === undefined ? text : text.replaceAll(known.receiver, receiver) };
}

/** Written by each start, so they are not compared: the migrations, and the numbers that a start raises. */
const OF_STARTS = new Set(['migrations', 'lives', 'sqlite_sequence']);

export type Row = Record<string, unknown>;
export interface Kept {
  table: string;
  columns: string[];
  rows: Row[];
}

/** The rows of a SQLite database, with the columns that it has now. */
export function rowsOf(file: Sqlite.Database): Kept[] {
  const tables = file.prepare(`SELECT name FROM sqlite_schema WHERE type = 'table'`).pluck().all() as string[];
  return tables
    .filter((table) => !OF_STARTS.has(table))
    .map((table) => {
      const columns = (file.pragma(`table_info(${table})`) as { name: string }[]).map(({ name }) => name);
      return { table, columns, rows: file.prepare(`SELECT ${columns.join(', ')} FROM ${table}`).all() as Row[] };
    });
}

/** Fills a new SQLite file (or one in memory) with a fixture. */
export function fillSqlite(path: string, text: string): Sqlite.Database {
  const file = new Sqlite(path);
  file.pragma('synchronous = OFF');
  file.pragma('foreign_keys = OFF');
  file.transaction(() => file.exec(text))();
  return file;
}

/** The tables and indexes of a SQLite database. */
export const schemaOf = (file: Sqlite.Database): unknown[] =>
  file
    .prepare(`SELECT type, name, tbl_name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%' ORDER BY 1, 2`)
    .all();

/** Columns, indexes and constraints of a PostgreSQL database. */
export const CATALOG = `SELECT c.relname || '.' || a.attname AS what, format_type(a.atttypid, a.atttypmod) || ' ' || a.attnotnull || ' '
    || a.attidentity::text || a.attgenerated::text || coalesce(pg_get_expr(d.adbin, d.adrelid), '') AS how
  FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
  WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' AND a.attnum > 0 AND NOT a.attisdropped
  UNION ALL SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'public'
  UNION ALL SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint WHERE connamespace = 'public'::regnamespace
  ORDER BY 1, 2`;

/** Fills an empty PostgreSQL database with a fixture; returns its rows. */
export async function fillPostgres(url: string, number: number): Promise<Kept[]> {
  const file = fillSqlite(':memory:', readFixture(number).text);
  const kept = rowsOf(file);
  const sequences = file.prepare('SELECT name, seq FROM sqlite_sequence').all() as { name: string; seq: number }[];
  file.close();
  const connection = await openConnection(url, MIGRATING, () => undefined);
  await migrate(connection, 0, readMigrations('postgres').slice(0, number));
  await connection.end();
  const client = new Client({ connectionString: url });
  await client.connect();
  for (const { table, columns, rows } of kept) {
    const places = columns.map((_, index) => `$${index + 1}`).join(', ');
    for (const row of rows)
      await client.query(
        `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${places})`,
        columns.map((column) => row[column]),
      );
  }
  for (const { name, seq } of sequences)
    await client.query(
      `SELECT setval(pg_get_serial_sequence('${name}', attname), $1) FROM pg_attribute
       WHERE attrelid = '${name}'::regclass AND attidentity <> ''`,
      [seq],
    );
  await client.end();
  return kept;
}

/** The tables and indexes of a new SQLite database. */
export function newestSchema(): unknown[] {
  const file = new Sqlite(':memory:');
  migrateSqlite(file, 0);
  const schema = schemaOf(file);
  file.close();
  return schema;
}
