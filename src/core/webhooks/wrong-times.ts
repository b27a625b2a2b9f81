import type { Database } from '../../platform/database/sql.ts';
import { latestIn } from '../../platform/database/time-witness.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { ClockTrust } from '../../runtime/clock-trust.ts';
import { type Log, levelOf } from '../../runtime/log.ts';
import type { DueDeliveries } from './due-deliveries.ts';
import { LATEST_ATTEMPT_MICROS } from './retry-schedule.ts';

/** Microseconds: a row that was changed later than now by more than this was changed by a clock that was ahead of this one. */
const AHEAD_MICROS = 30 * 1_000_000;
/** Deliveries to each kind of receivers that are changed in one unit of work. */
const PER_UNIT = 1_000;

interface Parts {
  database: Database;
  clock: Clock;
  log: Log;
  trust: Pick<ClockTrust, 'latest'>;
  rows: Pick<DueDeliveries, 'isPutOff' | 'pullDown' | 'pullBack'>;
}

/** Called at a start. A clock that was ahead has given deliveries times that are too late, so they get earlier ones. */
export async function putTimesRight({ database, clock, log, trust, rows }: Parts): Promise<void> {
  const seen = trust.latest(); // a clock that is behind makes no retry due early
  const latest = seen + LATEST_ATTEMPT_MICROS;
  if (await rows.isPutOff(database.read, latest)) {
    const pulled = await database.transact((unit) => rows.pullDown(unit, seen, latest), { pace: 'soon' });
    log.warn({ deliveries: pulled }, 'webhooks waited for a time that is too far away; they are due');
  }
  // An attempt would wait until the right clock has reached the time at which it was put off, or its delivery stored.
  const now = clock.now();
  const ahead = now + AHEAD_MICROS;
  try {
    // To look at all that waits takes long, so something must tell of such a clock.
    if (Math.max(seen, (await latestIn(database.read)) ?? 0) <= ahead) return;
    let pulled = 0;
    for (let more = 1; more > 0; pulled += more)
      more = await database.transact((unit) => rows.pullBack(unit, { now, ahead }, PER_UNIT), { pace: 'soon' });
    if (pulled > 0)
      log.warn(
        { deliveries: pulled },
        'webhooks had times of a clock that was ahead of this one; they have earlier ones',
      );
  } catch (err) {
    log[levelOf(err)]({ err }, 'webhooks with times of a clock that was ahead of this one keep them');
  }
}
