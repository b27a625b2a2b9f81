import type { Client } from 'aedes';
import type { Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import type { LogLimit } from '../../runtime/log-limit.ts';

/** Milliseconds between two tries to carry waiting messages out. */
const PAUSE_MILLISECONDS = 1_000;

interface Parts {
  clock: Pick<Clock, 'after'>;
  log: Log;
  logLimit: LogLimit;
}

interface Waiting {
  client: Client | null;
  resume(again: boolean): void;
}

/**
 * Lets messages of devices wait while the database is unavailable. They stay without an acknowledgement, and are
 * carried out in order when the database is back. Closing the connections instead would make all devices reconnect at
 * once, and logins need the database, too. A message is given up when its connection ends: it was not acknowledged, so
 * the device sends it again. The packets in work of each connection are bounded, so the waiting messages are bounded as
 * well.
 */
export function createWaitingMessages({ clock, log, logLimit }: Parts) {
  let waiting: Waiting[] = [];
  let cancel: (() => void) | undefined;
  let ended = false;

  function resumeAll(again: boolean): void {
    cancel = undefined;
    const resumed = waiting;
    waiting = [];
    for (const one of resumed) one.resume(again && !one.client?.closed);
  }

  return {
    /**
     * Makes a message wait. Resolves with true when it should be carried out now, and with false when it is given up.
     */
    wait(client: Client | null): Promise<boolean> {
      if (ended || client?.closed) return Promise.resolve(false);
      const leftOut = logLimit('database away');
      if (leftOut !== undefined)
        log.warn({ leftOut }, 'messages of devices wait, because the database does not answer');
      cancel ??= clock.after(PAUSE_MILLISECONDS, () => resumeAll(true));
      return new Promise((resume) => {
        waiting.push({ client, resume });
      });
    },

    /**
     * Gives up all waiting messages at shutdown. The devices send them again after the next start, or to another node.
     */
    end(): void {
      ended = true;
      cancel?.();
      resumeAll(false);
    },
  };
}
