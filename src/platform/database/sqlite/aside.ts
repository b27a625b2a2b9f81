import { MODULE_ENDING } from '@lapel/schemas/base/installation';
import { createAnsweringThread } from '../../../runtime/answering-thread.ts';
import type { Vault } from '../../encryption/vault.ts';
import type { Sql, SqlValue } from '../sql.ts';
import type { Question } from './aside-worker.ts';

const IDLE_MS = 5_000;

/**
 * Reads on a thread and a connection of their own, so that the event loop goes on meanwhile: for queries over many rows
 * that no caller waits for. The thread starts with the first query.
 */
export function createAside(file: string, vault: Vault) {
  const module = new URL(`./aside-worker${MODULE_ENDING}`, import.meta.url);
  const thread = createAnsweringThread<Question>({ module, workerData: file, idleMs: IDLE_MS, name: 'reading thread' });
  return {
    sql: {
      all: <Row>(text: string, ...values: SqlValue[]) => thread.ask({ kind: 'all', text, values }) as Promise<Row[]>,
      get: <Row>(text: string, ...values: SqlValue[]) =>
        thread.ask({ kind: 'get', text, values }) as Promise<Row | undefined>,
      run: () => Promise.reject(new Error('this connection only reads')),
      vault,
    } satisfies Sql,
    close: (): Promise<void> => thread.close(new Error('the database is closed')),
  };
}
