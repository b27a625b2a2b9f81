import type { Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import { traceField } from '../../runtime/tracing.ts';
import type { Due } from './due.ts';

// Milliseconds between two attempts, doubled each time: the object store may be away for an hour, or for a moment.
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 30_000;

/**
 * Makes the parameters of a command that must be made at delivery, such as a download URL. Returns undefined when the
 * command needs none. Resolves with the parameters to send, or with null when the transaction has ended, so that
 * nothing must be sent. Rejects when a service that it needs does not answer; it is then called again.
 */
export type Prepare = (due: Due) => Promise<object | null> | undefined;

interface Parts {
  clock: Clock;
  log: Log;
  prepare: Prepare;
}

const NOTHING = Promise.resolve(null);

/** The connection for which a command is prepared. */
interface Waiter {
  /** Aborted when the connection ends, which also ends the preparation. */
  signal: AbortSignal;
  /** Called with true when a pause after a failed preparation begins, and with false when it ends. */
  pausing(pauses: boolean): void;
}

/**
 * Prepares commands. A preparation that fails is repeated after a pause: while the object store is away, commands are
 * delayed and do not fail.
 */
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
    // Resolved when the connection ends, so that its commands do not go on waiting for the object store.
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
    for (let wait = FIRST_PAUSE_MS; attempt && !signal.aborted; wait = Math.min(wait * 2, LONGEST_PAUSE_MS)) {
      try {
        return await Promise.race([attempt, ended]);
      } catch (err) {
        if (signal.aborted) break;
        const { transactionId, operation, traceparent } = due;
        log.warn(
          { err, transactionId, operation, ...traceField(traceparent), seconds: wait / 1000 },
          'the parameters of a command could not be made; trying again',
        );
      }
      await pause(wait, waiter);
      attempt = signal.aborted ? undefined : prepare(due);
    }
    return null;
  }

  /**
   * Returns undefined when the command needs no preparation. Otherwise the promise never rejects; it resolves to null
   * when the command must not be sent, or the connection has ended.
   */
  return (due: Due, waiter: Waiter): Promise<object | null> | undefined => {
    // Nobody waits for a preparation that begins now, or hears of its failure.
    if (waiter.signal.aborted) return NOTHING;
    const first = prepare(due);
    return first && persist(due, first, waiter);
  };
}
