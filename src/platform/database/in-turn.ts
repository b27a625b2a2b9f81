import { createFairTurns } from '../../runtime/fair-queue.ts';
import type { Sql } from './sql.ts';

const NOBODY: readonly string[] = [''];

/**
 * Wraps `sql` so that it runs one statement at a time. Other statements on the same thread or connection then wait for
 * at most one of the wrapped ones. The owners of waiting statements (such as developers) take turns; `whose` names the
 * owner of the statement that is about to be asked for. Statements of one owner stay in order.
 */
export function inTurn(sql: Sql, whose: () => readonly string[] = () => NOBODY): Sql {
  const turn = createFairTurns();
  const next = <Result>(ask: () => Promise<Result>): Promise<Result> => turn(whose(), ask);

  return {
    all: (text, ...values) => next(() => sql.all(text, ...values)),
    get: (text, ...values) => next(() => sql.get(text, ...values)),
    run: (text, ...values) => next(() => sql.run(text, ...values)),
    vault: sql.vault,
  };
}
