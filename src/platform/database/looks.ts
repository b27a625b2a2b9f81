import { isDatabaseAway } from '@lapel/schemas/contracts/errors';
import type { Clock } from '../../runtime/clock.ts';
import { createWork } from '../../runtime/idle.ts';
import type { Log } from '../../runtime/log.ts';
import type { Micros, Millis } from '../../runtime/units.ts';

interface Parts {
  clock: Clock;
  log: Log;
  /** Does all the work that is due. Resolves to the milliseconds until the next look; Infinity: until something happens. */
  look(): Promise<Millis>;
  /** Milliseconds between a look that failed and the next one. */
  retryMs: Millis;
  /** The line of the log for a look that failed while the database answered. */
  failed: string;
}

/** Background work that the database holds: one look at a time, woken by what happens, and by one timer. */
export function createLooks({ clock, log, look: lookOnce, retryMs, failed }: Parts) {
  const work = createWork();
  let isOn = false;
  let looking = false;
  let hasNews = false;
  let cancel = (): void => undefined;
  /** The time of the next look, as far as it is known. */
  let nextAt = Number.POSITIVE_INFINITY;

  function look(): void {
    if (!isOn) return;
    if (looking) {
      hasNews = true;
      return;
    }
    cancel();
    looking = true;
    hasNews = false;
    work.begun();
    void lookOnce()
      .catch((err: unknown) => {
        if (!isDatabaseAway(err)) log.error({ err }, failed);
        return retryMs;
      })
      .then((waitMs) => {
        looking = false;
        if (hasNews) look();
        else if (isOn) {
          nextAt = clock.now() + waitMs * 1000;
          if (Number.isFinite(waitMs)) cancel = clock.after(waitMs, look);
        }
        work.ended();
      });
  }

  return {
    /** Begins with the work that was left when the service stopped. */
    start(): void {
      isOn = true;
      look();
    },

    /** Call this after the commit of anything that the work may wait for. */
    wake: look,

    isOn: (): boolean => isOn,

    /** Whether no look is in work, and none comes before that time (microseconds). */
    restsUntil: (at: Micros): boolean => isOn && !looking && nextAt > at,

    /** Whether something has happened since the look began, or since the last call. */
    takeNews(): boolean {
      const had = hasNews;
      hasNews = false;
      return had;
    },

    idle: work.idle,

    /** Lets the present look end; there is no other. */
    async stop(): Promise<void> {
      isOn = false;
      cancel();
      await work.idle();
    },
  };
}
