import type { Migration } from '../migration-files.ts';
import {
  type Measured,
  type Plan,
  SAMPLE_ROWS,
  type Step,
  statementsOf,
  stepOf,
  tablesTouchedBy,
} from '../upgrade-plan.ts';
import type { Connection } from './connection.ts';
import { unlessLost } from './trouble.ts';

/** An index that is made while nodes use its table reads the table twice, and waits for their transactions. */
const CONCURRENTLY = /\bINDEX CONCURRENTLY\b/;
/**
 * To drop an index of the sample would find the real one, because the sample's has another name. A trigger, or a default,
 * finds no function among temporary things. None of them takes time.
 */
const NOT_ON_A_SAMPLE =
  /^(DROP INDEX|CREATE OR REPLACE (FUNCTION|TRIGGER)|ALTER TABLE \w+ ALTER COLUMN \w+ SET DEFAULT)\b/i;

async function namesOf(connection: Connection): Promise<Set<string>> {
  const { rows } = await connection.query(
    `SELECT relname AS name FROM pg_class WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace`,
  );
  return new Set((rows as { name: string }[]).map(({ name }) => name));
}

/** The rows of a table, as the server's statistics know them; counted if they do not know. */
async function countOf(connection: Connection, table: string): Promise<number> {
  const { rows } = await connection.query(
    'SELECT reltuples AS count FROM pg_class WHERE oid = CAST(? AS TEXT)::regclass',
    table,
  );
  const known = (rows[0] as { count: number }).count;
  if (known > 0) return known;
  return ((await connection.query(`SELECT count(*) AS count FROM ${table}`)).rows[0] as { count: number }).count;
}

/** Fills a temporary table. Generated columns are made by the copy itself. */
async function fillSample(connection: Connection, schema: string, table: string, limit: number): Promise<void> {
  const { rows } = await connection.query(
    `SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum) AS columns FROM pg_attribute
     WHERE attrelid = CAST(? AS TEXT)::regclass AND attnum > 0 AND NOT attisdropped AND attgenerated = ''`,
    `pg_temp.${table}`,
  );
  const { columns } = rows[0] as { columns: string };
  await connection.script(
    `INSERT INTO pg_temp.${table} (${columns}) OVERRIDING SYSTEM VALUE SELECT ${columns} FROM "${schema}".${table} LIMIT ${limit}`,
  );
}

async function bytesOfSample(connection: Connection): Promise<number> {
  const { rows } = await connection.query(
    `SELECT coalesce(sum(pg_total_relation_size(oid)), 0) AS bytes FROM pg_class
     WHERE relkind = 'r' AND relnamespace = pg_my_temp_schema()`,
  );
  return (rows[0] as { bytes: number }).bytes;
}

/**
 * Applies the migrations to temporary tables that have the names of the real ones and a few of their rows, and measures
 * each. All of it is one transaction that is rolled back.
 */
async function measure(
  connection: Connection,
  missing: readonly Migration[],
  { tables, touched, limit }: { tables: Set<string>; touched: Set<string>; limit: number },
): Promise<Measured[]> {
  const found: Measured[] = [];
  const { rows } = await connection.query('SELECT current_schema() AS schema');
  const { schema } = rows[0] as { schema: string };
  await connection.script('BEGIN');
  try {
    for (const table of tables)
      await connection.script(`CREATE TEMP TABLE ${table} (LIKE "${schema}".${table} INCLUDING ALL) ON COMMIT DROP`);
    await connection.script(`SET LOCAL search_path = pg_temp, "${schema}"`);
    for (const table of touched) await fillSample(connection, schema, table, limit);
    for (const { text } of missing) {
      const [before, since] = [await bytesOfSample(connection), performance.now()];
      for (const statement of statementsOf(text))
        if (!NOT_ON_A_SAMPLE.test(statement)) await connection.script(statement.replace(' CONCURRENTLY', ''));
      const seconds = ((performance.now() - since) / 1000) * (CONCURRENTLY.test(text) ? 2 : 1);
      const grows = Math.max(0, (await bytesOfSample(connection)) - before);
      found.push({ seconds, grows, log: grows }); // what is written is also written to the log
    }
    return found;
  } finally {
    await unlessLost(connection.script('ROLLBACK'));
  }
}

/** The plan of an upgrade. Changes nothing; nodes may use the database meanwhile. */
export async function planPostgres(connection: Connection, missing: readonly Migration[]): Promise<Plan> {
  const tables = await namesOf(connection);
  const each = missing.map(({ text }) => tablesTouchedBy(text, tables));
  const touched = new Set(each.flat());
  const counts = new Map<string, number>();
  for (const table of touched) counts.set(table, await countOf(connection, table));
  // A role may lack the right to make temporary tables. That costs the times, and no more.
  const measured = async (limit: number): Promise<Measured[] | undefined> =>
    measure(connection, missing, { tables, touched, limit }).catch((cause: unknown) => {
      if (!connection.alive()) throw cause;
      return undefined;
    });
  const [empty, sample] = [await measured(0), await measured(SAMPLE_ROWS)];
  const steps = missing.map((migration, index): Step => {
    const own = (each[index] ?? []).map((table) => ({ table, rows: counts.get(table) ?? 0 }));
    const [first, second] = [empty?.[index], sample?.[index]];
    return stepOf(migration, own, first && second ? { empty: first, sample: second } : null);
  });
  const to = missing.at(-1)?.number ?? 0;
  return { from: to - missing.length, to, steps, free: null };
}
