import { isDatabaseAway } from '@lapel/schemas/contracts/errors';
import type { Clock } from '../../runtime/clock.ts';
import { createWork } from '../../runtime/idle.ts';
import { type Log, levelOf } from '../../runtime/log.ts';
import type { Millis } from '../../runtime/units.ts';

interface Parts {
  clock: Clock;
  log: Log;
  /** Does all the work that is due. Resolves to the milliseconds until the next run; Infinity: until something happens. */
  run(): Promise<Millis>;
  /** Milliseconds between a run that failed and the next one. */
  retryMs: Millis;
  /** The line of the log for a run that failed while the database answered. */
  failed: string;
}

/** Background work that the database holds: one run at a time, woken by what happens, and by one timer. */
export function createBackgroundWork({ clock, log, run: runOnce, retryMs, failed }: Parts) {
  const work = createWork();
  let isOn = false;
  let isRunning = false;
  let hasNews = false;
  let cancel = (): void => undefined;

  function begin(): void {
    if (!isOn) return;
    if (isRunning) {
      hasNews = true;
      return;
    }
    cancel();
    isRunning = true;
    hasNews = false;
    work.begun();
    void runOnce()
      .catch((err: unknown) => {
        if (!isDatabaseAway(err)) log[levelOf(err)]({ err }, failed);
        return retryMs;
      })
      .then((waitMs) => {
        isRunning = false;
        if (hasNews) begin();
        else if (isOn && Number.isFinite(waitMs)) cancel = clock.after(waitMs, begin);
        work.ended();
      });
  }

  return {
    /** Begins with the work that was left when the service stopped. */
    start(): void {
      isOn = true;
      begin();
    },

    /** Call this after the commit of anything that the work may wait for. */
    wake: begin,

    isOn: (): boolean => isOn,

    /** Whether something has happened since the run began, or since the last call. */
    takeNews(): boolean {
      const had = hasNews;
      hasNews = false;
      return had;
    },

    idle: work.idle,

    /** Lets the present run end; there is no other. */
    async stop(): Promise<void> {
      isOn = false;
      cancel();
      await work.idle();
    },
  };
}
