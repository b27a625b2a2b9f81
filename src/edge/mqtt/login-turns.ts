/** How many of a kind go on in a second, beside commands. */
export interface Pace {
  /** Those that a service without commands can do. */
  most: number;
  /** A command takes, with its result, as long as so many of them, and some time more is left to it. */
  perCommand: number;
  /** However many commands there are: about a fifth of the time. */
  least: number;
}

export const LOGINS: Pace = { most: 3300, perCommand: 3, least: 600 };
/** A handshake of TLS takes as long as three logins. */
export const HANDSHAKES: Pace = { most: 1100, perCommand: 1, least: 200 };

/** Commands a second below which nothing is held back at all. */
const QUIET = 30;
/** Milliseconds of waiting that may be caught up on: timers are late when there is much to do. */
const CATCH_UP = 20;
/** The shortest time of a timer. */
const TICK = 1;

interface Parts {
  /** Commands a second that callers ask for. */
  commands(): number;
  pace: Pace;
  /** Milliseconds. */
  now?: () => number;
  after?: (milliseconds: number, task: () => void) => void;
}

const setTimer = (milliseconds: number, task: () => void): void => void setTimeout(task, milliseconds);

/**
 * Turns for logins, and for the handshakes before them. A fleet that comes back after an outage would take all the time there is, and commands of everybody else
 * would wait: so they get the time that commands do not need, and at least a fifth.
 */
export function createLoginTurns({ commands, pace, now = () => performance.now(), after = setTimer }: Parts) {
  /** The order of a Set is the order in which they came. */
  const waiting = new Set<() => void>();
  let dueAt = 0;
  let scheduled = false;

  function go(): void {
    scheduled = false;
    const perSecond = commands();
    const every = perSecond < QUIET ? 0 : 1000 / Math.max(pace.least, pace.most - perSecond * pace.perCommand);
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
    /** Resolves when it is the caller's turn, in the order of asking; undefined: at once. */
    wait(): Promise<void> | undefined {
      if (waiting.size === 0 && commands() < QUIET) return undefined;
      return new Promise((resolve) => {
        waiting.add(resolve);
        schedule();
      });
    },
  };
}
