import type SqliteDatabase from 'better-sqlite3';
import type { SqlValue, UnitOfWork } from '../sql.ts';

/**
 * The `Sql` port over one better-sqlite3 connection, with a cache of prepared statements by text. `changed` is called
 * when a statement has changed the database, and `failed` when one has failed. With `readOnly`, a statement that would
 * change it is refused.
 */
export function createStatements(
  connection: SqliteDatabase.Database,
  {
    changed = () => undefined,
    failed = () => undefined,
    readOnly = false,
  }: { changed?: () => void; failed?: (cause: unknown) => void; readOnly?: boolean } = {},
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
  /** Carries out a statement; one that fails is noted. */
  function noted<Result>(text: string, carryOut: (statement: SqliteDatabase.Statement) => Result): Result {
    try {
      return carryOut(prepare(text));
    } catch (cause) {
      failed(cause);
      throw cause;
    }
  }

  const made = (text: string, values: readonly SqlValue[]): SqliteDatabase.RunResult =>
    noted(text, (statement) => statement.run(...values));

  /** Carries out a statement that has rows. */
  const read = <Rows>(text: string, rowsOf: (statement: SqliteDatabase.Statement) => Rows): Rows =>
    noted(text, (statement) => {
      const rows = rowsOf(statement);
      if (!statement.readonly) changed();
      return rows;
    });

  function run(text: string, values: readonly SqlValue[]): number {
    const { changes } = made(text, values);
    if (changes > 0) changed();
    return changes;
  }

  const first = <Row>(text: string, values: readonly SqlValue[]): Row | undefined =>
    read(text, (statement) => statement.get(...values) as Row | undefined);

  // RETURNING is avoided, because SQLite makes a table for its rows each time, which costs as much as the INSERT.
  function insert(text: string, values: readonly SqlValue[]): number {
    const { lastInsertRowid } = made(text, values);
    changed();
    return Number(lastInsertRowid);
  }

  const statements: Pick<UnitOfWork, 'all' | 'get' | 'run' | 'insert' | 'later' | 'insertLater' | 'insertReturning'> = {
    all: async <Row>(text: string, ...values: SqlValue[]) =>
      read(text, (statement) => statement.all(...values) as Row[]),
    get: async <Row>(text: string, ...values: SqlValue[]) => first<Row>(text, values),
    run: async (text, ...values) => run(text, values),
    insert: async (text, ...values) => insert(text, values),
    later(text, values, told) {
      const count = run(text, values);
      told?.(count);
    },
    insertLater: (text, values, inserted) => inserted(insert(text, values)),
    insertReturning: <Row>(text: string, values: readonly SqlValue[], inserted: (row: Row) => void) =>
      inserted(first<Row>(text, values) as Row),
  };
  return statements;
}
