import type SqliteDatabase from 'better-sqlite3';
import type { SqlValue, UnitOfWork } from '../sql.ts';

/**
 * The `Sql` port over one better-sqlite3 connection, with a cache of prepared statements by text. `changed` is called
 * when a statement has changed the database. With `readOnly`, a statement that would change it is refused.
 */
export function createStatements(
  connection: SqliteDatabase.Database,
  { changed = () => undefined, readOnly = false }: { changed?: () => void; readOnly?: boolean } = {},
) {
  const prepared = new Map<string, SqliteDatabase.Statement>();
  const prepare = (text: string): SqliteDatabase.Statement => {
    let statement = prepared.get(text);
    if (!statement) {
      statement = connection.prepare(text);
      if (readOnly && !statement.readonly) throw new Error(`this connection only reads: ${text}`);
      prepared.set(text, statement);
    }
    return statement;
  };
  const statements: Pick<UnitOfWork, 'all' | 'get' | 'run' | 'insert'> = {
    async all<Row>(text: string, ...values: SqlValue[]) {
      const statement = prepare(text);
      const rows = statement.all(...values) as Row[];
      if (!statement.readonly) changed();
      return rows;
    },
    async get<Row>(text: string, ...values: SqlValue[]) {
      const statement = prepare(text);
      const row = statement.get(...values) as Row | undefined;
      if (!statement.readonly) changed();
      return row;
    },
    async run(text: string, ...values: SqlValue[]) {
      const { changes } = prepare(text).run(...values);
      if (changes > 0) changed();
      return changes;
    },
    // RETURNING is avoided, because SQLite makes a table for its rows each time, which costs as much as the INSERT.
    async insert(text: string, ...values: SqlValue[]) {
      const { lastInsertRowid } = prepare(text).run(...values);
      changed();
      return Number(lastInsertRowid);
    },
  };
  return statements;
}
