// The thread behind `aside`: it runs queries on a connection that cannot write.
import { parentPort, workerData } from 'node:worker_threads';
import Sqlite from 'better-sqlite3';
import { answerOn } from '../../../runtime/thread-answers.ts';
import type { SqlValue } from '../sql.ts';
import { createStatements } from './statements.ts';

export interface Question {
  kind: 'all' | 'get';
  text: string;
  values: SqlValue[];
}

const sql = createStatements(new Sqlite(workerData as string, { readonly: true }));

answerOn(parentPort, ({ kind, text, values }: Question) => sql[kind](text, ...values));
