import type { Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import type { Due } from './due.ts';

// Milliseconds between two tries, doubled each time: what a command needs may be away for an hour, and comes back at once.
const FIRST_PAUSE = 1_000;
const LONGEST_PAUSE = 30_000;

/**
 * What some commands need at the moment of delivery, such as a download URL: answers the parameters to send, or null when
 * the command must not be sent any more (whoever prepares has settled it then). Undefined: nothing to prepare. Rejects
 * when what is needed is away; it is asked again then.
 */
export type Prepare = (due: Due) => Promise<object | null> | undefined;

interface Parts {
  clock: Clock;
  log: Log;
  prepare: Prepare;
}

/** Who waits for a command. */
interface Waiter {
  /** Ends the wait. */
  signal: AbortSignal;
  /** Called when a pause begins (true) and ends (false). */
  pausing(pauses: boolean): void;
}

/** Prepares commands, and has patience: an object store that is away fails no command and loses none, it delays. */
export function createPreparation({ clock, log, prepare }: Parts) {
  function pause(milliseconds: number, { signal, pausing }: Waiter): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const cancel = clock.after(milliseconds, resolve);
    const giveUp = (): void => {
      cancel();
      resolve();
    };
    signal.addEventListener('abort', giveUp, { once: true });
    pausing(true);
    return promise.finally(() => {
      signal.removeEventListener('abort', giveUp);
      pausing(false);
    });
  }

  async function persist(due: Due, first: Promise<object | null>, waiter: Waiter): Promise<object | null> {
    const { signal } = waiter;
    // Who waits no longer does not wait for an object store either.
    const ended = Promise.withResolvers<null>();
    const giveUp = (): void => ended.resolve(null);
    signal.addEventListener('abort', giveUp, { once: true });
    try {
      return await prepared(due, first, waiter, ended.promise);
    } finally {
      signal.removeEventListener('abort', giveUp);
    }
  }

  async function prepared(
    due: Due,
    first: Promise<object | null>,
    waiter: Waiter,
    ended: Promise<null>,
  ): Promise<object | null> {
    const { signal } = waiter;
    let attempt: Promise<object | null> | undefined = first;
    for (let wait = FIRST_PAUSE; attempt && !signal.aborted; wait = Math.min(wait * 2, LONGEST_PAUSE)) {
      try {
        return await Promise.race([attempt, ended]);
      } catch (err) {
        if (signal.aborted) break;
        const { transactionId, operation } = due;
        log.warn({ err, transactionId, operation, seconds: wait / 1000 }, 'a command waits: it could not be prepared');
      }
      await pause(wait, waiter);
      attempt = signal.aborted ? undefined : prepare(due);
    }
    return null;
  }

  /** Undefined: nothing to prepare. Never rejects; null when the command is not to be sent, or the signal ended the wait. */
  return (due: Due, waiter: Waiter): Promise<object | null> | undefined => {
    const first = prepare(due);
    return first && persist(due, first, waiter);
  };
}
