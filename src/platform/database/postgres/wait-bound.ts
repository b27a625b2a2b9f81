import { DomainError } from '../../../errors.ts';

// Milliseconds: with them an answer is there within 5 s, whatever hangs. They are about the database, not the domain, so
// they are no business of the injected clock.
const LONGEST = 4_500;
const LOOK = 200;
/** Who comes when the database has been away for so long is told at once: nothing piles up behind it. */
const LONGEST_AWAY = 2_000;

export type Patience = ReturnType<typeof createPatience>;

/** Bounds how long anybody waits for the database. */
export function createPatience({ awayFor, longest = LONGEST }: { awayFor(): number; longest?: number }) {
  const waiting = new Set<{ since: number; giveUp(why: string): void }>();

  const timer = setInterval(() => {
    const since = performance.now() - longest;
    for (const one of waiting) {
      if (one.since > since) break; // in the order in which they came
      one.giveUp(`no answer for ${longest} ms`);
    }
  }, LOOK).unref();

  return {
    /**
     * What `work` answers, or DATABASE_UNAVAILABLE after some seconds; `given` then says that nobody waits any more, and
     * whether it is done is not known.
     */
    bounded<Result>(work: (given: () => boolean) => Promise<Result>): Promise<Result> {
      if (awayFor() > LONGEST_AWAY) return Promise.reject(new DomainError('DATABASE_UNAVAILABLE'));
      return new Promise<Result>((resolve, reject) => {
        let given = false;
        const one = {
          since: performance.now(),
          giveUp(why: string): void {
            given = true;
            waiting.delete(one);
            reject(new DomainError('DATABASE_UNAVAILABLE', { cause: new Error(why) }));
          },
        };
        waiting.add(one);
        work(() => given).then(
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

    /** Nobody waits any longer. */
    end(why: string): void {
      for (const one of waiting) one.giveUp(why);
    },

    close: (): void => clearInterval(timer),
  };
}
