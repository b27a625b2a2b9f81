import type { Test } from 'tap';
import { SHORT } from '../../src/platform/database/postgres/connection.ts';
import { openPostgres } from '../../src/platform/database/postgres/open-postgres.ts';
import type { Database } from '../../src/platform/database/sql.ts';
import { openSqlite } from '../../src/platform/database/sqlite/open-sqlite.ts';
import { createDatabase, type DatabaseKind, NO_POSTGRES } from '../postgres/databases.ts';

interface Told {
  nowMicros?: number;
  onCommit?(commit: { seconds: number; committed: number; rolledBack: number }): void;
  ownerOf?(key: string): string | undefined;
}

/** Times after which a server is given up that a busy machine does not reach; tests that are about these times set their own. */
const PATIENT = {
  bounds: { ...SHORT, statementMs: 60_000, idleInTransactionMs: 60_000, lockMs: 10_000, silenceMs: 60_000 },
  longestWaitMs: 60_000,
};

/** Opens a new database of a kind; it ends with the test. */
export async function openDatabaseOf(kind: DatabaseKind, t: Test, told: Told = {}): Promise<Database> {
  const options = { nowMicros: 0, ...told };
  const database =
    kind === 'sqlite'
      ? openSqlite({ folder: t.testdir(), ...options })
      : await openPostgres({ url: await createDatabase(t), ...PATIENT, ...options });
  t.teardown(() => database.close());
  return database;
}

/** Runs the tests on each available database, because the port makes the same promises for both. */
export const onBoth = (t: Test, tests: (t: Test, kind: DatabaseKind) => void | Promise<void>): void => {
  for (const kind of ['sqlite', 'postgres'] as const) {
    const skip = kind === 'postgres' && NO_POSTGRES;
    void t.test(kind, { ...(skip && { skip }) }, async (t) => tests(t, kind));
  }
};
