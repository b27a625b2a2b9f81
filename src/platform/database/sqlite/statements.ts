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
  function run(text: string, values: readonly SqlValue[]): number {
    const { changes } = prepare(text).run(...values);
    if (changes > 0) changed();
    return changes;
  }

  // RETURNING is avoided, because SQLite makes a table for its rows each time, which costs as much as the INSERT.
  function insert(text: string, values: readonly SqlValue[]): number {
    const { lastInsertRowid } = prepare(text).run(...values);
    changed();
    return Number(lastInsertRowid);
  }

  const statements: Pick<UnitOfWork, 'all' | 'get' | 'run' | 'insert' | 'later' | 'insertLater'> = {
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
    run: async (text, ...values) => run(text, values),
    insert: async (text, ...values) => insert(text, values),
    later(text, values, told) {
      const count = run(text, values);
      told?.(count);
    },
    insertLater: (text, values, inserted) => inserted(insert(text, values)),
  };
  return statements;
}
