import { createBackgroundWork } from '../../platform/database/looks.ts';
import type { Database } from '../../platform/database/sql.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { ClockTrust } from '../../runtime/clock-trust.ts';
import type { Log } from '../../runtime/log.ts';
import type { Micros, Millis } from '../../runtime/units.ts';
import { untilNextLook } from './look-interval.ts';

const SECOND = 1_000_000;
/** The devices at which the service looks in one interval. */
const DEVICES_PER_LOOK = 2_000;
/** The longest wait on one node, which is woken by each new device. */
const IDLE_MS = 3_600_000;
const RETRY_MS = 1_000;
/** Microseconds by which a look may be late before the service counts as having stood still. */
const STOOD_STILL: Micros = 30 * SECOND;

/**
 * A part of the look: `now` is the time at which it began, `listensSince` that since which devices could be heard without an
 * interruption. It calls `lives` now and then, and resolves to the number of devices that it has looked at.
 */
export type Look = (now: Micros, listensSince: Micros, lives: () => void) => Promise<number>;

interface Parts {
  database: Database;
  clock: Clock;
  log: Log;
  /** True on one node only, and always without a cluster. */
  leads(): boolean;
  trust: Pick<ClockTrust, 'isHeld'>;
  looks: readonly Look[];
}

/** Looks again and again at devices of rollouts that have a result: whether they are seen again, and whether they are well. */
export function createLooking({ database, clock, log, leads, trust, looks }: Parts) {
  const background = createBackgroundWork({
    clock,
    log,
    run: look,
    retryMs: RETRY_MS,
    failed: 'devices with the release of a rollout could not be looked at; trying again',
  });
  /** Since when devices could be heard without an interruption, and when the service says again that it lives. */
  let listensSince = Number.POSITIVE_INFINITY;
  let expectedAt: Micros = Number.NEGATIVE_INFINITY;
  /** Whether the next look comes although nobody wakes it. */
  let comesSoon = false;

  /** Notes that the service lives, and when it will say so again: it has stood still if that comes late. */
  function lives(againMs: Millis): Micros {
    const now = clock.now();
    if (now > expectedAt + STOOD_STILL) listensSince = now;
    expectedAt = now + againMs * 1000;
    return now;
  }

  async function look(): Promise<Millis> {
    comesSoon = false;
    const now = lives(0);
    const hears = leads() && !trust.isHeld();
    if (!hears) listensSince = Number.POSITIVE_INFINITY;
    else if (listensSince > now) listensSince = now;
    let devices = 0;
    // The time is that of the beginning: while the look lasts, the service may stand still.
    if (hears) for (const part of looks) devices += await part(now, listensSince, () => lives(0));
    comesSoon = !hears || devices > 0 || database.shared;
    const waitMs = comesSoon ? untilNextLook(devices, DEVICES_PER_LOOK) : IDLE_MS;
    lives(waitMs);
    return waitMs;
  }

  return {
    start: background.start,
    idle: background.idle,
    stop: background.stop,

    /** Call this after a commit in which a device got something to look at. */
    wake(): void {
      if (!comesSoon) background.wake();
    },
  };
}
