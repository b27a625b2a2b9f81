import { execFile } from 'node:child_process';
import type { Clock } from './clock.ts';
import type { Log } from './log.ts';

/** How often systemd hears of the service while no watchdog asks for it. */
const STATUS_MS = 30_000;
/** systemd gives a service up after this many missing signs of life, so that one that is late harms nothing. */
const SIGNS_PER_WATCHDOG = 3;
/** A message is given up after this time, so that a stop, which waits for it, stays below its own bound. */
const SEND_MS = 5_000;
const LONGEST_STATUS = 200;

/** The facts that the supervisor must know of the service. */
interface Vitals {
  /** The parts that cannot do their work, as `/readyz` reports them. */
  problems(): Promise<readonly { part: string; reason: string }[]>;
  /** Commits a unit of work that changes nothing, in the same way as all others. */
  commit(): Promise<unknown>;
}

interface Given {
  env: Readonly<Record<string, string | undefined>>;
  pid: number;
  clock: Pick<Clock, 'after'>;
  log: Log;
  /** Sends lines such as `READY=1` to systemd; replaced by tests. */
  send?: (lines: readonly string[]) => Promise<void>;
}

/** Reasons may quote other programs: one line, without control characters, of bounded length. */
const inOneLine = (text: string): string => text.replaceAll(/\p{Cc}+/gu, ' ').slice(0, LONGEST_STATUS);

/** Node cannot send datagrams to a socket in the file system, so systemd's own program does. */
const systemdNotify = (lines: readonly string[]): Promise<void> =>
  new Promise((resolve, reject) => {
    execFile('systemd-notify', [...lines], { timeout: SEND_MS }, (error) => (error ? reject(error) : resolve()));
  });

/** The milliseconds between two signs of life that the watchdog of systemd asks of this process; null without one. */
function watchdogMs({ env, pid }: Pick<Given, 'env' | 'pid'>): number | null {
  const micros = Number(env['WATCHDOG_USEC'] ?? 0);
  const isForOther = env['WATCHDOG_PID'] !== undefined && env['WATCHDOG_PID'] !== String(pid);
  return micros > 0 && !isForOther ? micros / 1000 / SIGNS_PER_WATCHDOG : null;
}

/**
 * Tells systemd when the service is ready and when it stops (`Type=notify`), its state for `systemctl status`, and that
 * it is alive (`WatchdogSec`). A sign of life needs an event loop that runs, and a unit of work that was committed since
 * the last one. While the database itself fails or does not answer, signs are sent without a commit: a restart would not
 * mend the database, and would only disconnect the devices.
 */
export function createSupervisor({ env, pid, clock, log, send = systemdNotify }: Given) {
  const isThere = Boolean(env['NOTIFY_SOCKET']);
  const watchdog = watchdogMs({ env, pid });
  let cancel: (() => void) | undefined;
  let isStopping = false;
  let committing: Promise<void> | undefined;
  let toldFailure = false;

  async function tell(...lines: string[]): Promise<void> {
    if (!isThere) return;
    try {
      await send(lines);
    } catch (err) {
      if (!toldFailure) log.error({ err }, 'systemd cannot be told of the state of the service (systemd-notify)');
      toldFailure = true;
    }
  }

  /** Begins a commit, unless one has not ended yet. A commit that fails has ended: the queue of commits works. */
  function commitAgain(vitals: Vitals): void {
    committing ??= vitals.commit().then(
      () => undefined,
      () => undefined,
    );
    void committing.then(() => {
      committing = undefined;
    });
  }

  async function look(vitals: Vitals): Promise<void> {
    const isStuck = committing !== undefined; // the commit that began with the last sign of life
    const problems = await vitals.problems();
    const isDatabase = problems.some(({ part }) => part === 'database');
    if (isStopping) return;
    if (isStuck && !isDatabase) log.error('no commit has ended since the last sign of life to systemd');
    const isAlive = !isStuck || isDatabase;
    const texts = problems.map(({ part, reason }) => `${part}: ${reason}`);
    const status = texts.length === 0 ? 'ready' : inOneLine(`not ready: ${texts.join('; ')}`);
    await tell(...(isAlive && watchdog !== null ? ['WATCHDOG=1'] : []), `STATUS=${status}`);
    commitAgain(vitals);
  }

  function arm(vitals: Vitals): void {
    if (isStopping) return;
    cancel = clock.after(watchdog ?? STATUS_MS, () => void look(vitals).finally(() => arm(vitals)));
  }

  return {
    /** Called when the service can serve. */
    async ready(vitals: Vitals): Promise<void> {
      if (!isThere) return;
      commitAgain(vitals);
      await tell('READY=1', 'STATUS=ready');
      arm(vitals);
    },

    /** Called when the service begins to stop. */
    async stopping(): Promise<void> {
      isStopping = true;
      cancel?.();
      await tell('STOPPING=1', 'STATUS=finishes requests and messages in flight');
    },
  };
}

export type Supervisor = ReturnType<typeof createSupervisor>;
