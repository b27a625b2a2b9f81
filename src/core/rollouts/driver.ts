import { isDatabaseAway } from '@lapel/schemas/contracts/errors';
import type { Metrics } from '../../metrics.ts';
import { createBackgroundWork } from '../../platform/database/looks.ts';
import type { Database } from '../../platform/database/sql.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { ClockTrust } from '../../runtime/clock-trust.ts';
import { type Log, levelOf } from '../../runtime/log.ts';
import { createSlowLook } from '../../runtime/slow-look.ts';
import type { Micros, Millis } from '../../runtime/units.ts';
import { isOverdue } from './overdue.ts';
import { type Rollout, revertsItself } from './rollout.ts';
import { findAtWork, findRollout } from './rollout-repository.ts';
import type { Steps } from './steps.ts';

const RETRY_MS = 1_000;
/** Milliseconds between two slow looks; a rollout with a step that is due for longer is suspected. */
const SLOW_LOOK_MS = 10_000;
/** The longest pause of the timer, because the clock can leap forward while a timer waits. */
const LONGEST_WAIT_MS = 60_000;
/** The most rollouts that are read one by one; where more have changed, all are read at once. */
const MOST_ALONE = 8;

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
  /** Leaves it to people to bring the devices of a rollout back, because the database was restored. */
  leaveRestored(rollout: Rollout): Promise<void>;
}

/**
 * Takes rollouts further, a step of each at a time, until nothing can be done now. It is woken by what happens to a rollout,
 * and then looks at this one only, and by one timer, which looks at those that are due, and now and then at all. A rollout
 * whose step fails holds up no other.
 */
export function createDriver({ database, clock, log, metrics, leads, trust, steps, ...parts }: Parts) {
  const background = createBackgroundWork({
    clock,
    log,
    run: advanceAll,
    retryMs: RETRY_MS,
    failed: 'rollouts could not be taken further; trying again',
  });
  const { isOn, takeNews, start, idle } = background;
  let isRestored = false;
  /** The rollouts of a restored database that are not paused yet. */
  const toPause = new Set<string>();
  let rounds = 0;
  /** The rollouts to look at in the next round, the times at which others have a step, and when to look at all. */
  const changed = new Set<string>();
  const times = new Map<string, Micros>();
  let allAt: Micros = Number.NEGATIVE_INFINITY;
  /** The rollouts of the present round, which are taken further just now. */
  const inRound = new Set<string>();
  /** The rollout that the slow look asks about, until something happens to it. */
  let askedAbout: string | undefined;

  function wakeAll(): void {
    allAt = Number.NEGATIVE_INFINITY;
    askedAbout = undefined;
    background.wake();
  }

  function wake(rolloutId: string): void {
    changed.add(rolloutId);
    if (rolloutId === askedAbout) askedAbout = undefined;
    background.wake();
  }

  async function pauseOne(rollout: Rollout): Promise<void> {
    const { pauseRestored, leaveRestored } = parts;
    if (rollout.state === 'running' || rollout.state === 'scheduled') await pauseRestored(rollout);
    else if (revertsItself(rollout)) await leaveRestored(rollout);
    toPause.delete(rollout.rolloutId);
  }

  /** Pauses all rollouts of a restored database. One that cannot be paused is not taken further before it is. */
  async function pauseAll(): Promise<void> {
    const all = await findAtWork(database.read);
    for (const { rolloutId } of all) toPause.add(rolloutId);
    isRestored = false;
    for (const rollout of all)
      await pauseOne(rollout).catch((err: unknown) => {
        if (isDatabaseAway(err)) throw err;
        log.error({ err, rolloutId: rollout.rolloutId }, 'a rollout could not be paused; trying again');
        changed.add(rollout.rolloutId);
      });
  }

  const nextAt = (): Micros => times.values().reduce((one, other) => Math.min(one, other), allAt);

  /** The rollouts of the next round: those that have changed or have a step now, or, when it is time, all. */
  async function ofRound(): Promise<Rollout[]> {
    const now = clock.now();
    for (const [rolloutId, at] of times) if (at <= now) changed.add(rolloutId);
    const some = [...changed];
    changed.clear();
    for (const rolloutId of some) {
      inRound.add(rolloutId);
      times.delete(rolloutId);
    }
    if (now < allAt && some.length <= MOST_ALONE) {
      const found = await Promise.all(some.map((rolloutId) => findRollout(database.read, rolloutId)));
      return found.filter((rollout) => rollout !== undefined);
    }
    allAt = now + database.lookAgainMs * 1000;
    const all = await findAtWork(database.read);
    times.clear();
    return all;
  }

  /** Takes one rollout a step further. Resolves to the time of the next step. */
  async function advanceOne(rollout: Rollout): ReturnType<Steps['advance']> {
    try {
      if (!toPause.has(rollout.rolloutId)) return await steps.advance(rollout);
      await pauseOne(rollout);
      return 'now';
    } catch (err) {
      if (isDatabaseAway(err)) throw err;
      log[levelOf(err)]({ err, rolloutId: rollout.rolloutId }, 'a rollout could not be taken further; trying again');
      return clock.now() + RETRY_MS * 1000;
    }
  }

  async function advanceRound(): Promise<void> {
    const all = await ofRound();
    for (const { rolloutId } of all) inRound.add(rolloutId);
    // Another one is the first in each round, so that none of a developer always comes too late.
    rounds += 1;
    const first = rounds % Math.max(all.length, 1);
    steps.beginRound();
    for (const rollout of [...all.slice(first), ...all.slice(0, first)]) {
      if (!isOn()) return;
      const at = await advanceOne(rollout);
      if (at === 'now') changed.add(rollout.rolloutId);
      else if (at !== undefined) times.set(rollout.rolloutId, at);
    }
  }

  /** Takes rollouts further. Resolves to the milliseconds until the next look; Infinity when nothing is to be done. */
  async function advanceAll(): Promise<Millis> {
    if (trust.isHeld()) {
      // Starts, windows and soaks would come too early.
      trust.whenBelieved(wakeAll);
      return Number.POSITIVE_INFINITY;
    }
    // The timer has waited for as long as it may: the clock may have leapt.
    if (changed.size === 0 && nextAt() > clock.now()) allAt = Number.NEGATIVE_INFINITY;
    try {
      while (isOn() && leads() && (changed.size > 0 || nextAt() <= clock.now())) {
        if (isRestored) await pauseAll();
        inRound.clear();
        await advanceRound();
        takeNews(); // it is in what has changed
      }
    } catch (error) {
      allAt = Number.NEGATIVE_INFINITY;
      throw error;
    } finally {
      inRound.clear();
    }
    if (!leads()) {
      changed.clear();
      allAt = Number.NEGATIVE_INFINITY;
      return database.lookAgainMs;
    }
    const next = nextAt();
    if (next === Number.POSITIVE_INFINITY) return Number.POSITIVE_INFINITY;
    return Math.min(Math.max(0, Math.ceil((next - clock.now()) / 1000)), LONGEST_WAIT_MS);
  }

  /** Whether it can be told what the driver leaves alone: it may work, and will not look at all rollouts soon. */
  const canTell = (): boolean =>
    isOn() && leads() && !trust.isHeld() && !isRestored && allAt > clock.now() + SLOW_LOOK_MS * 1000;

  /** Whether a rollout is not taken further now, and will not be in these milliseconds, whatever the others do. */
  function isLeft(rolloutId: string, forMs = SLOW_LOOK_MS): boolean {
    const at = times.get(rolloutId) ?? Number.POSITIVE_INFINITY;
    return canTell() && !changed.has(rolloutId) && !inRound.has(rolloutId) && at > clock.now() + forMs * 1000;
  }

  async function* atWork(): AsyncGenerator<string> {
    if (canTell()) for (const { rolloutId } of await findAtWork(database.read)) yield rolloutId;
  }

  async function overlooked(rolloutId: string): Promise<string | undefined> {
    if (!isLeft(rolloutId)) return undefined;
    askedAbout = rolloutId;
    const rollout = await findRollout(database.read, rolloutId);
    // The timer of a rollout with a pace waits for the time at which the pace lets it go on.
    if (!rollout || (rollout.plan.ratePerMinute !== undefined && !isLeft(rolloutId, LONGEST_WAIT_MS))) return undefined;
    const before = clock.now() - SLOW_LOOK_MS * 1000;
    if (!(await isOverdue(database.read, rollout, before))) return undefined;
    return askedAbout === rolloutId && isLeft(rolloutId) ? `${rollout.state} ${rollout.stage}` : undefined;
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
    /**
     * Resolves when devices may connect: the outbox would send them what waits of rollouts that run, so rollouts of a restored
     * database are paused before. If that fails, the driver tries again.
     */
    async start(): Promise<void> {
      if (isRestored && leads())
        await pauseAll().catch((err: unknown) => log.error({ err }, 'rollouts could not be paused; trying again'));
      start();
    },

    /** From now on, nothing is done before all rollouts that run are paused, and no devices go back by themselves. */
    pauseFirst(): void {
      isRestored = true;
      wakeAll();
    },

    /**
     * Finds rollouts whose next step is due and taken by nobody. One that does not move is told, and never makes the node
     * unready: after a restart the same step would follow, and calls and commands need the node meanwhile.
     */
    slowLook: { ...slowLook, trouble: () => undefined },

    /** Call this after a commit that has changed a rollout. */
    wake,
    /** Call this when something has happened that may concern any rollout. */
    wakeAll,
    idle,

    async stop(): Promise<void> {
      slowLook.stop();
      await background.stop();
    },
  };
}
