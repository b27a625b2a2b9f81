import type { Client } from 'aedes';
import type { Metrics } from '../../metrics.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import type { LogLimit } from '../../runtime/log-limit.ts';

/** Milliseconds after which what waits is tried again. */
const PAUSE_MILLISECONDS = 1_000;

interface Parts {
  clock: Pick<Clock, 'after'>;
  log: Log;
  logLimit: LogLimit;
  metrics: Pick<Metrics, 'mqttMessagesWaiting'>;
}

interface Waiting {
  client: Client | null;
  resume(again: boolean): void;
}

/**
 * Patience with a database that is away: what a device has sent waits on its connection, without an acknowledgement, and is
 * carried out when the database is back, in the order in which it came. To close the connections of a whole fleet would
 * make it come back in a storm, at logins that need the database too. A message of a connection that ended meanwhile is
 * given up: it was not acknowledged, so it comes again. How much waits is bounded by what is read of a connection at a time.
 */
export function createPatience({ clock, log, logLimit, metrics }: Parts) {
  let waiting: Waiting[] = [];
  let cancel: (() => void) | undefined;
  let ended = false;

  function resumeAll(again: boolean): void {
    cancel = undefined;
    const resumed = waiting;
    waiting = [];
    metrics.mqttMessagesWaiting.set(0);
    for (const one of resumed) one.resume(again && !one.client?.closed);
  }

  return {
    /** Whether something of the connection waits: what comes behind it must not overtake it. */
    holds: (client: Client | null): boolean => waiting.some((one) => one.client === client),

    /** Resolves when it is time to try again; with false when it is not to be tried any more. */
    wait(client: Client | null): Promise<boolean> {
      if (ended || client?.closed) return Promise.resolve(false);
      const leftOut = logLimit('database away');
      if (leftOut !== undefined) log.warn({ leftOut }, 'messages of devices wait: the database does not answer');
      cancel ??= clock.after(PAUSE_MILLISECONDS, () => resumeAll(true));
      return new Promise((resume) => {
        waiting.push({ client, resume });
        metrics.mqttMessagesWaiting.set(waiting.length);
      });
    },

    /** Nothing waits any more: it comes again to whoever is there next. */
    end(): void {
      ended = true;
      cancel?.();
      resumeAll(false);
    },
  };
}
