import Sqlite from 'better-sqlite3';
import type { Sql, SqlValue } from '../../../src/platform/database/sql.ts';
import { createStatements } from '../../../src/platform/database/sqlite/statements.ts';
import type { Vault } from '../../../src/platform/encryption/vault.ts';
import { world } from '../world.ts';

const MILLISECONDS = 0.5;

/** Reads on a connection of their own, as `createAside` does, but on this thread. */
export function createAside(file: string, vault: Vault) {
  let opened: Sqlite.Database | undefined;
  let prepared: ReturnType<typeof createStatements> | undefined;
  let isClosed = false;
  const statements = (): ReturnType<typeof createStatements> => {
    opened ??= new Sqlite(file, { readonly: true });
    prepared ??= createStatements(opened);
    return prepared;
  };
  const asked = (): Promise<void> =>
    new Promise((resolve, reject) => {
      if (isClosed) return reject(new Error('the database is closed'));
      world().time.plan(MILLISECONDS, 'reading', resolve);
    });
  return {
    sql: {
      all: async <Row>(text: string, ...values: SqlValue[]): Promise<Row[]> => {
        await asked();
        return statements().all<Row>(text, ...values);
      },
      get: async <Row>(text: string, ...values: SqlValue[]): Promise<Row | undefined> => {
        await asked();
        return statements().get<Row>(text, ...values);
      },
      run: () => Promise.reject(new Error('this connection only reads')),
      vault,
    } satisfies Sql,
    async close(): Promise<void> {
      isClosed = true;
      opened?.close();
    },
  };
}
