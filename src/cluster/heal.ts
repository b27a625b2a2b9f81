import type { Clock } from '../clock.ts';
import { isDatabaseAway } from '../errors.ts';
import { createWork } from '../idle.ts';
import type { Log } from '../log.ts';

/** Milliseconds from the end of one look to the next: what a lost hint spoke of is found within five seconds. */
const BETWEEN = 4_000;

type Look = () => Promise<void>;

/** Looks at everything that hints speak of, now and then, and when some may have been missed. */
export function createHeal({ clock, log }: { clock: Clock; log: Log }) {
  const looks: Look[] = [];
  const work = createWork();
  let looking = false;
  let again = false;
  let cancel = (): void => undefined;
  let stopped = false;

  async function lookOnce(): Promise<void> {
    for (const look of looks) {
      try {
        if (!stopped) await look();
      } catch (err) {
        if (!isDatabaseAway(err))
          log.warn({ err }, 'what hints speak of could not be looked at; the next look does it');
      }
    }
  }

  function arm(): void {
    cancel(); // one that is under way may have set it
    cancel = clock.after(BETWEEN, now);
  }

  function now(): void {
    cancel();
    if (looking) again = true;
    if (looking || stopped) return;
    looking = true;
    work.begun();
    void lookOnce().then(() => {
      looking = false;
      work.ended();
      if (stopped) return;
      if (again) {
        again = false;
        now();
      } else arm();
    });
  }

  return {
    /** One more thing to look at; before the start. */
    add: (look: Look): void => void looks.push(look),
    /** Looks at once. */
    now,
    start: async (): Promise<void> => arm(),
    idle: work.idle,
    async [Symbol.asyncDispose](): Promise<void> {
      stopped = true;
      cancel();
      await work.idle();
    },
  };
}
