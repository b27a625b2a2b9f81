import { createFairTurns } from '../../runtime/fair-queue.ts';
import type { Sql } from './sql.ts';

const NOBODY: readonly string[] = [''];

/**
 * Wraps `sql` so that it runs one statement at a time: others on the same thread or connection then wait for at most one of
 * these. Waiting statements are served in the fair order of their owners; `whose` gives the path of the current owner in
 * the fair queue. Statements of one owner stay in order.
 */
export function inTurn(sql: Sql, whose: () => readonly string[] = () => NOBODY): Sql {
  const turn = createFairTurns();
  const next = <Result>(ask: () => Promise<Result>): Promise<Result> => turn(whose(), ask);

  return {
    all: (text, ...values) => next(() => sql.all(text, ...values)),
    get: (text, ...values) => next(() => sql.get(text, ...values)),
    run: (text, ...values) => next(() => sql.run(text, ...values)),
  };
}
