import { createFairTurns } from '../../runtime/fair-queue.ts';
import type { Sql } from './sql.ts';

const NOBODY: readonly string[] = [''];

/**
 * The same with one question at a time: whoever shares the thread or the connection behind it waits for one of these at most,
 * however many there are. They take turns by whose they are, a path of a fair queue; those of one come in their order.
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
