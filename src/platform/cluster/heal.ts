import { isDatabaseAway } from '../../errors.ts';
import type { Clock } from '../../runtime/clock.ts';
import { createWork } from '../../runtime/idle.ts';
import type { Log } from '../../runtime/log.ts';

/** Milliseconds from the end of one look to the next: what a lost hint spoke of is found within five seconds. */
const BETWEEN = 4_000;

/** Seconds without a whole look, after which other nodes should get the work. */
const LONGEST = 30;

type Look = () => Promise<void>;

/** Looks at everything that hints speak of, now and then, and when some may have been missed. */
export function createHeal({ clock, log }: { clock: Pick<Clock, 'now' | 'after'>; log: Log }) {
  const looks: Look[] = [];
  const work = createWork();
  let looking = false;
  let again = false;
  let cancel = (): void => undefined;
  let stopped = false;
  let wholeAt = clock.now();
  /** When the first look began that has not come to a good end; undefined while all is well. */
  let failingSince: number | undefined;

  async function lookOnce(): Promise<void> {
    const begunAt = clock.now();
    failingSince ??= begunAt;
    let isWhole = true;
    for (const look of looks) {
      try {
        if (!stopped) await look();
      } catch (err) {
        isWhole = false;
        if (!isDatabaseAway(err))
          log.warn({ err }, 'what hints speak of could not be looked at; the next look does it');
      }
    }
    if (!isWhole) return;
    wholeAt = begunAt;
    failingSince = undefined;
  }

  /** Seconds since all was looked at the last time. */
  const age = (): number => Math.max(0, clock.now() - wholeAt) / 1_000_000;

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
    age,
    /** Why this node is not ready; undefined when it is. */
    trouble(): string | undefined {
      const seconds = failingSince === undefined ? 0 : (clock.now() - failingSince) / 1_000_000;
      return seconds > LONGEST ? `what hints speak of was not looked at for ${Math.floor(seconds)} s` : undefined;
    },
    async start(): Promise<void> {
      wholeAt = clock.now();
      arm();
    },
    idle: work.idle,
    async [Symbol.asyncDispose](): Promise<void> {
      stopped = true;
      cancel();
      await work.idle();
    },
  };
}
