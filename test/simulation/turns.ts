/**
 * Lets the ends of a service, and its backups, happen one after another, because a service that is away cannot end. One that had
 * to wait begins in the middle of an event of the service that has just started. But a kill comes between two events, so
 * `pass` lets that event end.
 */
export function createTurns(pass: () => Promise<void>) {
  let last: Promise<unknown> = Promise.resolve();
  let open = 0;

  return function inTurn<Result>(happens: () => Promise<Result>): Promise<Result> {
    const waits = open > 0;
    open += 1;
    const turn = last.then(async () => {
      if (waits) await pass();
      const result = await happens();
      open -= 1;
      return result;
    });
    last = turn;
    return turn;
  };
}
