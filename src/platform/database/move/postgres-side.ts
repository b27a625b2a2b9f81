import { atHosts, placeOf } from '../../../runtime/database-hosts.ts';
import { Refused } from '../../../runtime/refused.ts';
import { type Bounds, type Connection, openConnection } from '../postgres/connection.ts';
import { migrate, missingMigrations } from '../postgres/migrations.ts';
import { checkSettings } from '../postgres/server-check.ts';
import { PAGE, type Side, type Table, type Value } from './side.ts';

/** A large table takes its time, and nobody else uses the database. */
const BOUNDS: Bounds = { statementMs: 0, idleInTransactionMs: 0, lockMs: 10_000, silenceMs: 3_600_000 };

type Column = { table: string; name: string; type: string };

async function columnsOf(connection: Connection): Promise<Column[]> {
  const { rows } = await connection.query(
    `SELECT c.relname AS "table", a.attname AS name, format_type(a.atttypid, a.atttypmod) AS type
     FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
     WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r' AND a.attnum > 0
       AND NOT a.attisdropped AND a.attgenerated = '' ORDER BY c.oid, a.attnum`,
  );
  return rows as Column[];
}

async function sideOf(connection: Connection, name: string): Promise<Side> {
  const columns = await columnsOf(connection);
  const typeOf = new Map(columns.map((column) => [`${column.table}.${column.name}`, column.type]));
  return {
    name,
    async tables() {
      const tables = Map.groupBy(columns, ({ table }) => table);
      return [...tables].map(([table, own]): Table => ({ name: table, columns: own.map((column) => column.name) }));
    },
    async *pages({ name: table, columns: wanted }) {
      await connection.script(`DECLARE rows_of_table NO SCROLL CURSOR FOR SELECT ${wanted.join(', ')} FROM ${table}`);
      for (;;) {
        const { rows } = await connection.script(`FETCH ${PAGE} FROM rows_of_table`);
        if (rows.length > 0)
          yield (rows as Record<string, Value>[]).map((row) => wanted.map((one) => row[one] ?? null));
        if (rows.length < PAGE) break;
      }
      await connection.script('CLOSE rows_of_table');
    },
    async insert({ name: table, columns: given }, rows) {
      const lists = given.map((column) => `CAST(? AS ${typeOf.get(`${table}.${column}`) ?? 'text'}[])`);
      await connection.query(
        `INSERT INTO ${table} (${given.join(', ')}) SELECT * FROM unnest(${lists.join(', ')})`,
        ...given.map((_, index) => rows.map((row) => row[index] ?? null)),
      );
    },
    async sequences() {
      const { rows } = await connection.query(
        `SELECT c.relname AS name, s.last_value AS last FROM pg_sequences s
         JOIN pg_depend d ON d.objid = format('%I.%I', s.schemaname, s.sequencename)::regclass AND d.deptype = 'i'
         JOIN pg_class c ON c.oid = d.refobjid WHERE s.schemaname = current_schema() AND s.last_value IS NOT NULL`,
      );
      return new Map((rows as { name: string; last: number }[]).map(({ name: table, last }) => [table, last]));
    },
    async setSequence(table, last) {
      await connection.query(
        `SELECT setval(pg_get_serial_sequence(a.attrelid::regclass::text, a.attname), CAST(? AS BIGINT))
         FROM pg_attribute a WHERE a.attrelid = CAST(? AS TEXT)::regclass AND a.attidentity <> ''`,
        last,
        table,
      );
    },
    async commit() {
      await connection.script('COMMIT');
      await connection.script('ANALYZE');
    },
    close: () => connection.end(),
  };
}

async function open(url: string): Promise<{ connection: Connection; name: string }> {
  const name = `PostgreSQL at ${placeOf(url)}`;
  const connection = await atHosts(url)((host) => openConnection(host, BOUNDS, () => undefined));
  try {
    await checkSettings(connection);
    return { connection, name };
  } catch (error) {
    await connection.end();
    throw error;
  }
}

/** Throws if a node of the service uses the database. */
async function requireNoNodes(connection: Connection): Promise<void> {
  const { rows } = await connection.query('SELECT node_id AS node FROM nodes WHERE lease_until > now()');
  if (rows.length > 0)
    throw new Refused(`stop the service first: ${rows.map(({ node }) => String(node)).join(', ')} uses the database`);
}

/** Opens a PostgreSQL database to read all of it, as it is at one moment. */
export async function postgresSource(url: string): Promise<Side> {
  const { connection, name } = await open(url);
  try {
    const { rows } = await connection.query(`SELECT to_regclass('migrations') IS NOT NULL AS made`);
    if (!(rows[0] as { made: boolean }).made) throw new Refused(`${name} has no tables of the service`);
    if ((await missingMigrations(connection)).length > 0)
      throw new Refused(`${name} is of an older version: start and stop this version on it first`);
    await requireNoNodes(connection);
    await connection.script('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    return await sideOf(connection, name);
  } catch (error) {
    await connection.end();
    throw error;
  }
}

/** Makes the tables in an empty PostgreSQL database. */
export async function postgresTarget(url: string, nowMicros: number): Promise<Side> {
  const { connection, name } = await open(url);
  try {
    await migrate(connection, nowMicros);
    await requireNoNodes(connection);
    await connection.script('BEGIN');
    return await sideOf(connection, name);
  } catch (error) {
    await connection.end();
    throw error;
  }
}
