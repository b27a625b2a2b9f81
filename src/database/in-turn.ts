import type { Sql } from './sql.ts';

/**
 * The same with one question at a time, in the order in which they come: whoever shares the thread or the connection behind it
 * waits for one of these at most, however many there are.
 */
export function inTurn(sql: Sql): Sql {
  let last: Promise<unknown> = Promise.resolve();
  function next<Result>(ask: () => Promise<Result>): Promise<Result> {
    const asked = last.then(ask);
    last = asked.catch(() => undefined);
    return asked;
  }
  return {
    all: (text, ...values) => next(() => sql.all(text, ...values)),
    get: (text, ...values) => next(() => sql.get(text, ...values)),
    run: (text, ...values) => next(() => sql.run(text, ...values)),
  };
}
