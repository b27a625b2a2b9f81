import type { Metrics } from '../../metrics.ts';
import { createLooks } from '../../platform/database/looks.ts';
import type { Database } from '../../platform/database/sql.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { ClockTrust } from '../../runtime/clock-trust.ts';
import type { Log } from '../../runtime/log.ts';
import { createSlowLook } from '../../runtime/slow-look.ts';
import type { Micros } from '../../runtime/units.ts';
import { isOverdue } from './overdue.ts';
import type { Rollout } from './rollout.ts';
import { findAtWork, findRollout } from './rollout-repository.ts';
import type { Steps } from './steps.ts';

const RETRY_MS = 1_000;
/** Milliseconds between two looks on several nodes: the node that leads does not hear of all that others store. */
const LOOK_MS = 1_000;
/** Milliseconds between two slow looks; a rollout with a step that is due for longer is suspected. */
const SLOW_LOOK_MS = 10_000;
/** The longest pause of the timer, because the clock can leap forward while a timer waits. */
const LONGEST_WAIT_MS = 60_000;

interface Parts {
  database: Database;
  clock: Clock;
  log: Log;
  metrics: Metrics;
  /** True on one node only, and always without a cluster. */
  leads(): boolean;
  trust: Pick<ClockTrust, 'isHeld' | 'whenBelieved'>;
  steps: Steps;
  /** Pauses a rollout, because the database was restored. */
  pauseRestored(rollout: Rollout): Promise<void>;
}

/**
 * Takes all rollouts further, in turn, a step of each at a time, until nothing can be done now. It is woken by what happens,
 * and by one timer.
 */
export function createDriver({ database, clock, log, metrics, leads, trust, steps, pauseRestored }: Parts) {
  const looks = createLooks({
    clock,
    log,
    look: advanceAll,
    retryMs: RETRY_MS,
    failed: 'rollouts could not be taken further; trying again',
  });
  const { isOn, takeNews, start, wake, idle } = looks;
  let isRestored = false;
  let rounds = 0;

  async function pauseAll(): Promise<void> {
    for (const rollout of await findAtWork(database.read))
      if (rollout.state === 'running' || rollout.state === 'scheduled') await pauseRestored(rollout);
    isRestored = false;
  }

  /** Takes all rollouts further. Resolves to the milliseconds until the next look; undefined when no time is known. */
  async function advanceAll(): Promise<number | undefined> {
    let next: Micros = Number.POSITIVE_INFINITY;
    if (trust.isHeld()) {
      // Starts, windows and soaks would come too early.
      trust.whenBelieved(wake);
      return undefined;
    }
    for (let isBusy = true; isBusy && isOn() && leads(); ) {
      if (isRestored) await pauseAll();
      takeNews();
      isBusy = false;
      next = Number.POSITIVE_INFINITY;
      const all = await findAtWork(database.read);
      // Another one is the first in each round, so that none of a developer always comes too late.
      rounds += 1;
      const first = rounds % Math.max(all.length, 1);
      steps.beginRound();
      for (const rollout of [...all.slice(first), ...all.slice(0, first)]) {
        if (!isOn()) break;
        const at = await steps.advance(rollout);
        if (at === 'now') isBusy = true;
        else if (at !== undefined) next = Math.min(next, at);
      }
      isBusy = takeNews() || isBusy;
    }
    const waitMs = Math.min(Math.max(0, Math.ceil((next - clock.now()) / 1000)), LONGEST_WAIT_MS);
    if (database.concurrent) return Math.min(waitMs, LOOK_MS);
    return next === Number.POSITIVE_INFINITY ? undefined : waitMs;
  }

  /** Whether nothing is done, and nothing will be in these milliseconds. */
  const rests = (forMs = SLOW_LOOK_MS): boolean =>
    looks.restsUntil(clock.now() + forMs * 1000) && leads() && !trust.isHeld() && !isRestored;

  async function* atWork(): AsyncGenerator<string> {
    if (rests()) for (const { rolloutId } of await findAtWork(database.read)) yield rolloutId;
  }

  async function overlooked(rolloutId: string): Promise<string | undefined> {
    const rollout = rests() && (await findRollout(database.read, rolloutId));
    // The timer of a rollout with a pace waits for the time at which the pace lets it go on.
    if (!rollout || (rollout.plan.ratePerMinute !== undefined && !rests(LONGEST_WAIT_MS))) return undefined;
    const before = clock.now() - SLOW_LOOK_MS * 1000;
    if (!(await isOverdue(database.read, rollout, before))) return undefined;
    return rests() ? `${rollout.state} ${rollout.stage}` : undefined;
  }

  const slowLook = createSlowLook({
    clock,
    log,
    what: 'rollouts',
    keys: atWork,
    overlooked,
    move: wake,
    count: () => metrics.overlooked.inc({ what: 'rollouts' }),
    pieceMs: SLOW_LOOK_MS,
  });

  return {
    start,

    /** From now on, nothing is done before all rollouts that run are paused. */
    pauseFirst(): void {
      isRestored = true;
      wake();
    },

    /** Finds rollouts whose next step is due and taken by nobody. */
    slowLook,

    wake,
    idle,

    async stop(): Promise<void> {
      slowLook.stop();
      await looks.stop();
    },
  };
}
