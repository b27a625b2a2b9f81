import { isDatabaseAway } from '@lapel/schemas/contracts/errors';
import type { Clock } from '../../runtime/clock.ts';
import { createWork } from '../../runtime/idle.ts';
import type { Log } from '../../runtime/log.ts';

/** Milliseconds between two checks. A new command whose hint was lost is so found within five seconds. */
const BETWEEN_MS = 4_000;
/**
 * Microseconds between two thorough checks. A check that is not thorough looks for new work only, because a look at all
 * connected devices takes the database as long as hundreds of commands do.
 */
const BETWEEN_THOROUGH = 60_000_000;

/**
 * When no check was complete for this many seconds, the node reports that it is not ready, so that other nodes get the
 * requests.
 */
const LONGEST_SECONDS = 30;

/** `isThorough`: it must look at everything, because hints may have been lost, or it has not done so for long. */
type Check = (isThorough: boolean) => Promise<void>;

/**
 * Healing: finds in the database the work that lost hints announced. It runs all checks regularly, and at once and
 * thoroughly when hints may have been missed.
 */
export function createHeal({ clock, log }: { clock: Pick<Clock, 'now' | 'after'>; log: Log }) {
  const checks: Check[] = [];
  const work = createWork();
  let checking = false;
  let again = false;
  let cancel = (): void => undefined;
  let stopped = false;
  let wholeAt = clock.now();
  /**
   * The beginning of the first check after the last complete one, whether it runs or has failed. Undefined between a
   * complete check and the next one.
   */
  let failingSince: number | undefined;
  /** Whether the next check must be thorough: from a gap on, until a thorough check was complete. */
  let mayHaveMissed = true;
  let thoroughAt = clock.now();

  async function checkOnce(): Promise<void> {
    const begunAt = clock.now();
    failingSince ??= begunAt;
    // A clock that was set back must not put it off.
    const isThorough = mayHaveMissed || Math.abs(begunAt - thoroughAt) >= BETWEEN_THOROUGH;
    mayHaveMissed = false;
    let isWhole = true;
    for (const check of checks) {
      try {
        if (!stopped) await check(isThorough);
      } catch (err) {
        isWhole = false;
        if (!isDatabaseAway(err)) log.warn({ err }, 'the check for lost hints failed; the next check tries again');
      }
    }
    if (!isWhole) {
      mayHaveMissed ||= isThorough;
      return;
    }
    if (isThorough) thoroughAt = begunAt;
    wholeAt = begunAt;
    failingSince = undefined;
  }

  /** Seconds since the beginning of the last complete check. */
  const age = (): number => Math.max(0, clock.now() - wholeAt) / 1_000_000;

  function arm(): void {
    cancel(); // the check that has just ended may have set this timer already
    cancel = clock.after(BETWEEN_MS, begin);
  }

  function now(): void {
    mayHaveMissed = true;
    begin();
  }

  function begin(): void {
    cancel();
    if (checking) again = true;
    if (checking || stopped) return;
    checking = true;
    work.begun();
    void checkOnce().then(() => {
      checking = false;
      work.ended();
      if (stopped) return;
      if (again) {
        again = false;
        begin();
      } else arm();
    });
  }

  return {
    /** Adds a check; to be called before the start. */
    add: (check: Check): void => void checks.push(check),
    /** Runs all checks at once and thoroughly, because hints may have been missed. */
    now,
    age,
    /** Why this node should get no requests; undefined when it is ready. */
    trouble(): string | undefined {
      const seconds = failingSince === undefined ? 0 : (clock.now() - failingSince) / 1_000_000;
      return seconds > LONGEST_SECONDS
        ? `no check for lost hints was completed for ${Math.floor(seconds)} s`
        : undefined;
    },
    async start(): Promise<void> {
      wholeAt = clock.now();
      arm();
    },
    idle: work.idle,
    async [Symbol.asyncDispose](): Promise<void> {
      stopped = true;
      cancel();
      await work.idle();
    },
  };
}
