import type SqliteDatabase from 'better-sqlite3';
import type { Sql, SqlValue } from './sql.ts';

/** The `Sql` port over one better-sqlite3 connection, with a cache of prepared statements by text. */
export function createStatements(connection: SqliteDatabase.Database): Sql {
  const prepared = new Map<string, SqliteDatabase.Statement>();
  const prepare = (text: string): SqliteDatabase.Statement => {
    let statement = prepared.get(text);
    if (!statement) {
      statement = connection.prepare(text);
      prepared.set(text, statement);
    }
    return statement;
  };
  return {
    all: async <Row>(text: string, ...values: SqlValue[]) => prepare(text).all(...values) as Row[],
    get: async <Row>(text: string, ...values: SqlValue[]) => prepare(text).get(...values) as Row | undefined,
    run: async (text: string, ...values: SqlValue[]) => prepare(text).run(...values).changes,
  };
}
