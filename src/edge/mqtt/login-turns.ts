/** Logins or handshakes per second that may go on, depending on the number of commands. */
export interface Pace {
  /** The rate while there are no commands. */
  most: number;
  /** The cost of a command with its result, in logins or handshakes; it is a little higher than measured. */
  perCommand: number;
  /** The lowest rate, for any number of commands: about a fifth of the time. */
  least: number;
}

export const LOGINS: Pace = { most: 3300, perCommand: 3, least: 600 };
/** A TLS handshake takes as long as three logins. */
export const HANDSHAKES: Pace = { most: 1100, perCommand: 1, least: 200 };

/** Commands per second below which nothing waits. */
const FEW_COMMANDS = 30;
/**
 * When a timer fires late, the logins of at most this many milliseconds are made up for at once; the service is busy
 * then.
 */
const CATCH_UP = 20;
/** The shortest time of a timer, in milliseconds. */
const TICK = 1;

interface Parts {
  /** Commands per second that callers create. */
  commands(): number;
  pace: Pace;
  /** The current time in milliseconds. */
  now?: () => number;
  after?: (milliseconds: number, task: () => void) => void;
}

const setTimer = (milliseconds: number, task: () => void): void => void setTimeout(task, milliseconds);

/**
 * Lets logins, and the handshakes before them, take turns. All devices that reconnect after an outage would take all
 * the time of the service, and commands would wait. So logins get the time that commands do not need, but at least a
 * fifth.
 */
export function createLoginTurns({ commands, pace, now = () => performance.now(), after = setTimer }: Parts) {
  /** A Set keeps the order of arrival. */
  const waiting = new Set<() => void>();
  let dueAt = 0;
  let scheduled = false;

  function go(): void {
    scheduled = false;
    const perSecond = commands();
    const every = perSecond < FEW_COMMANDS ? 0 : 1000 / Math.max(pace.least, pace.most - perSecond * pace.perCommand);
    const time = now();
    dueAt = Math.max(dueAt, time - CATCH_UP);
    for (const goOn of waiting) {
      if (dueAt > time) break;
      dueAt += every;
      waiting.delete(goOn);
      goOn();
    }
    if (waiting.size > 0) schedule();
  }

  function schedule(): void {
    if (scheduled) return;
    scheduled = true;
    after(Math.max(TICK, dueAt - now()), go);
  }

  return {
    /** Resolves when it is the caller's turn, in the order of calls; undefined means at once. */
    wait(): Promise<void> | undefined {
      if (waiting.size === 0 && commands() < FEW_COMMANDS) return undefined;
      return new Promise((resolve) => {
        waiting.add(resolve);
        schedule();
      });
    },
  };
}
