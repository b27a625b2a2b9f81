import { createBackgroundWork } from '../../platform/database/looks.ts';
import type { Database, SqlValue } from '../../platform/database/sql.ts';
import { latestIn } from '../../platform/database/time-witness.ts';
import type { Clock } from '../../runtime/clock.ts';
import { APART_MICROS, type ClockTrust, SETTLED_MS } from '../../runtime/clock-trust.ts';
import { type Log, levelOf } from '../../runtime/log.ts';
import type { Micros, Millis } from '../../runtime/units.ts';
import type { DueDeliveries } from './due-deliveries.ts';
import { LATEST_ATTEMPT_MICROS } from './retry-schedule.ts';

/** Deliveries that are changed in one unit of work. */
const PER_UNIT = 1_000;
const RETRY_MS = 60_000;

interface Parts {
  database: Database;
  clock: Clock;
  log: Log;
  trust: Pick<ClockTrust, 'latest' | 'isBehind' | 'isSettled'>;
  rows: Pick<DueDeliveries, 'isPutOff' | 'pullDown' | 'pullsBack'>;
  /** Called after a commit in which deliveries have become due. */
  due(): Promise<void>;
}

/**
 * A clock that was ahead has given deliveries times that are too late; they get earlier ones after the next start. Retries do
 * only after some minutes: a clock that is behind looks the same, and is put right before that.
 */
export function createWrongTimes({ database, clock, log, trust, rows, due }: Parts) {
  /** The latest time that was known at the start: the first command of this life hides that of the life before. */
  let known: Micros | undefined;

  const latestKnown = async (): Promise<Micros> => Math.max(trust.latest(), (await latestIn(database.read)) ?? 0);

  /** Lets deliveries of later times wait from now on, those with so many attempts at most. Returns their number. */
  async function pullBack(mostAttempts: number): Promise<number> {
    known ??= await latestKnown();
    const now = clock.now();
    const ahead = now + APART_MICROS;
    // To look at all that waits takes long, so something must tell of such a clock.
    if (known <= ahead) return 0;
    let all = 0;
    for (const pull of rows.pullsBack) {
      let after: SqlValue[] | undefined;
      do {
        const from = after;
        const which = { now, ahead, mostAttempts };
        const { pulled, last } = await database.transact((unit) => pull(unit, which, from, PER_UNIT), { pace: 'soon' });
        all += pulled;
        after = last;
      } while (after);
    }
    if (all > 0)
      log.warn(
        { deliveries: all },
        'webhooks had times that this clock reaches later, and have earlier ones: the clock was ahead before, or is behind now',
      );
    return all;
  }

  const retries = createBackgroundWork({
    clock,
    log,
    async run(): Promise<Millis> {
      if (!trust.isSettled()) return SETTLED_MS;
      if ((await pullBack(Number.MAX_SAFE_INTEGER)) > 0) await due();
      return Number.POSITIVE_INFINITY;
    },
    retryMs: RETRY_MS,
    failed: 'retries with times of a clock that was ahead keep them for now; trying again',
  });

  return {
    async start(): Promise<void> {
      const seen = trust.latest();
      const latest = seen + LATEST_ATTEMPT_MICROS;
      if (await rows.isPutOff(database.read, latest)) {
        const pulled = await database.transact((unit) => rows.pullDown(unit, seen, latest), { pace: 'soon' });
        log.warn({ deliveries: pulled }, 'webhooks waited for a time that is too far away; they are due');
      }
      try {
        known = await latestKnown();
        if (!trust.isBehind()) await pullBack(0);
      } catch (err) {
        log[levelOf(err)](
          { err },
          'webhooks with times of a clock that was ahead keep them for now; trying again later',
        );
      }
      retries.start();
    },
    idle: retries.idle,
    stop: retries.stop,
  };
}
