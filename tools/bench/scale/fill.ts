// Fills the database of a stopped service with copies of rows that the service itself wrote. So this code needs to know only
// the columns that it changes.
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';

type Expressions = Record<string, string>;

interface Filling {
  database: Sqlite.Database;
  /** Copies the newest row of a table `count` times. `n` counts from 0 in the SQL expressions of the columns that change. */
  copy(table: string, count: number, expressions: Expressions): void;
}

const AT_ONCE = 250_000;

export function fill(folder: string, work: (filling: Filling) => void): void {
  const database = new Sqlite(join(folder, 'lapel.db'));
  database.pragma('journal_mode = wal');
  database.pragma('synchronous = OFF');
  database.pragma('cache_size = -262144');
  const copy = (table: string, count: number, expressions: Expressions): void => {
    const columns = (database.pragma(`table_info(${table})`) as { name: string }[]).map(({ name }) => name);
    const values = columns.map((name) => expressions[name] ?? `template.${name}`);
    const insert = database.prepare(
      `WITH RECURSIVE numbers (n) AS (SELECT :first UNION ALL SELECT n + 1 FROM numbers WHERE n + 1 < :end)
       INSERT INTO ${table} (${columns.join(', ')}) SELECT ${values.join(', ')}
       FROM numbers, (SELECT * FROM ${table} ORDER BY rowid DESC LIMIT 1) AS template`,
    );
    for (let first = 0; first < count; first += AT_ONCE) {
      insert.run({ first, end: Math.min(count, first + AT_ONCE) });
    }
  };
  try {
    work({ database, copy });
    database.pragma('wal_checkpoint(TRUNCATE)');
  } finally {
    database.close();
  }
}

/** The SQL expression that gives the n-th of the devices whose identifier begins with the prefix, in turn. */
export function deviceInTurn(database: Sqlite.Database, prefix: string): string {
  database.exec('CREATE TEMP TABLE numbered (number INTEGER PRIMARY KEY, device_id TEXT)');
  const { changes } = database
    .prepare(
      `INSERT INTO numbered SELECT NULL, device_id FROM devices WHERE device_id LIKE ? || '%' ORDER BY device_id`,
    )
    .run(prefix);
  return `(SELECT device_id FROM numbered WHERE number = 1 + n % ${changes})`;
}

/** Activates every device that is not activated, as if it had answered. */
export function activateAll(database: Sqlite.Database): void {
  const { changes } = database
    .prepare(
      `UPDATE devices SET activation = 'activated', application_id = 'bench', client_id = device_id
       WHERE activation = 'deactivated'`,
    )
    .run();
  database.prepare('UPDATE activated_counts SET activated = activated + ?').run(changes);
}
