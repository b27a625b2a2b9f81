/** The rate at which logins, or TLS handshakes, may go on: the more commands per second, the lower it is. */
export interface Pace {
  /** Logins or handshakes per second while there are no commands. */
  most: number;
  /** Logins or handshakes that take as much time as one command with its result; a little more than was measured. */
  perCommand: number;
  /** Logins or handshakes per second that may always go on. They take about a fifth of the time of the service. */
  least: number;
}

export const LOGINS: Pace = { most: 3300, perCommand: 3, least: 600 };
/** A TLS handshake takes as long as three logins. */
export const HANDSHAKES: Pace = { most: 1100, perCommand: 1, least: 200 };

/** Commands per second below which logins do not wait. */
export const FEW_COMMANDS = 30;
/**
 * When a timer fires late, the service is busy. Then at most as many logins go on at once as belong to this many
 * milliseconds.
 */
const CATCH_UP = 20;
/** The shortest time that a timer can be set to, in milliseconds. */
const TICK = 1;

interface Parts {
  /** The number of commands that callers create per second at present. */
  commands(): number;
  pace: Pace;
  /** The current time in milliseconds. */
  now?: () => number;
  after?: (milliseconds: number, task: () => void) => void;
}

const setTimer = (milliseconds: number, task: () => void): void => void setTimeout(task, milliseconds);

/**
 * Makes logins, or the TLS handshakes before them, wait for their turn. When all devices reconnect after an outage,
 * their logins would take all the time of the service, and commands would wait. So logins get the time that commands
 * leave, but at least a fifth.
 */
export function createLoginTurns({ commands, pace, now = () => performance.now(), after = setTimer }: Parts) {
  /** The functions that let the waiting logins go on; a Set keeps them in the order of arrival. */
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
    /** Resolves when the caller may go on, in the order of the calls; undefined means at once. */
    wait(): Promise<void> | undefined {
      if (waiting.size === 0 && commands() < FEW_COMMANDS) return undefined;
      return new Promise((resolve) => {
        waiting.add(resolve);
        schedule();
      });
    },
  };
}
