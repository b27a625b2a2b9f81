// The thread behind `aside`: it runs queries on a connection that cannot write.
import { parentPort, workerData } from 'node:worker_threads';
import Sqlite from 'better-sqlite3';
import type { SqlValue } from '../sql.ts';
import { createStatements } from './statements.ts';

export interface Question {
  id: number;
  kind: 'all' | 'get';
  text: string;
  values: SqlValue[];
}
export type Answer = { id: number } & ({ result: unknown } | { error: string; code: string | undefined });
/** Posted once, before the first answer: from then on the thread may be terminated. */
export type Opened = 'open';

if (!parentPort) throw new Error('this module is a worker');
const port = parentPort;
const sql = createStatements(new Sqlite(workerData as string, { readonly: true }));

port.postMessage('open' satisfies Opened);

port.on('message', ({ id, kind, text, values }: Question) => {
  const post = (answer: Answer): void => port.postMessage(answer);
  sql[kind](text, ...values).then(
    (result) => post({ id, result }),
    (cause: Error & { code?: string }) => post({ id, error: cause.message, code: cause.code }),
  );
});
