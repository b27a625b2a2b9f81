import { DomainError } from '@lapel/schemas/contracts/errors';

// Milliseconds; the most that a caller waits. So a caller is answered within 5 s, whatever hangs. The times concern
// the database, so they are measured in real time and not by the injected clock.
const LONGEST_MS = 4_500;
const CHECK_MS = 200;
/** Once the database has been away for this long, new callers are rejected at once, so that they do not pile up. */
const LONGEST_AWAY_MS = 2_000;

export type WaitBound = ReturnType<typeof createWaitBound>;

/** Bounds how long a caller waits for the database. */
export function createWaitBound({ awayForMs, longestMs = LONGEST_MS }: { awayForMs(): number; longestMs?: number }) {
  const waiting = new Set<{ since: number; giveUp(why: string): void }>();
  let [passedMs, checkedAt] = [0, performance.now()];

  /**
   * The time that has passed, in which a long turn of the event loop counts as two checks: answers that arrived meanwhile
   * are still unread, so the database is not late.
   */
  const passed = (): number => passedMs + Math.min(performance.now() - checkedAt, 2 * CHECK_MS);

  const timer = setInterval(() => {
    [passedMs, checkedAt] = [passed(), performance.now()];
    const since = passedMs - longestMs;
    for (const one of waiting) {
      // Callers are in the order in which they began to wait, so all further ones began later still.
      if (one.since > since) break;
      one.giveUp(`no answer for ${longestMs} ms`);
    }
  }, CHECK_MS).unref();

  return {
    /**
     * Returns the result of `work`, or rejects with DATABASE_UNAVAILABLE after the limit; `isGivenUp` then returns true,
     * and it is unknown whether the work will still be done.
     */
    bounded<Result>(work: (isGivenUp: () => boolean) => Promise<Result>): Promise<Result> {
      if (awayForMs() > LONGEST_AWAY_MS) return Promise.reject(new DomainError('DATABASE_UNAVAILABLE'));
      return new Promise<Result>((resolve, reject) => {
        let isGivenUp = false;
        const one = {
          since: passed(),
          giveUp(why: string): void {
            isGivenUp = true;
            waiting.delete(one);
            reject(new DomainError('DATABASE_UNAVAILABLE', { cause: new Error(why) }));
          },
        };
        waiting.add(one);
        work(() => isGivenUp).then(
          (value) => {
            waiting.delete(one);
            resolve(value);
          },
          (cause: unknown) => {
            waiting.delete(one);
            reject(cause);
          },
        );
      });
    },

    /** Rejects all waiting callers. */
    end(why: string): void {
      for (const one of waiting) one.giveUp(why);
    },

    close: (): void => clearInterval(timer),
  };
}
