import type { Database } from '../../platform/database/sql.ts';
import { latestIn } from '../../platform/database/time-witness.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { ClockTrust } from '../../runtime/clock-trust.ts';
import { type Log, levelOf } from '../../runtime/log.ts';
import type { DueDeliveries } from './due-deliveries.ts';
import { LATEST_ATTEMPT_MICROS } from './retry-schedule.ts';

/** Microseconds: a row that was stored later than now by more than this was stored by a clock that was ahead. */
const AHEAD_MICROS = 30 * 1_000_000;

interface Parts {
  database: Database;
  clock: Clock;
  log: Log;
  trust: Pick<ClockTrust, 'latest'>;
  rows: Pick<DueDeliveries, 'isPutOff' | 'pullDown' | 'pullFirst'>;
}

/** Called at a start. A clock that was ahead has given deliveries a time that is too late, so they become due. */
export async function putTimesRight({ database, clock, log, trust, rows }: Parts): Promise<void> {
  const seen = trust.latest(); // a clock that is behind makes no retry due early
  const latest = seen + LATEST_ATTEMPT_MICROS;
  if (await rows.isPutOff(database.read, latest)) {
    const pulled = await database.transact((unit) => rows.pullDown(unit, seen, latest), { pace: 'soon' });
    log.warn({ deliveries: pulled }, 'webhooks waited for a time that is too far away; they are due');
  }
  // A first attempt would wait until the right clock has reached the time at which the delivery was stored.
  const now = clock.now();
  const ahead = now + AHEAD_MICROS;
  try {
    // To look at all that waits takes long, so something must tell of such a clock.
    if (Math.max(seen, (await latestIn(database.read)) ?? 0) <= ahead) return;
    const pulled = await database.transact((unit) => rows.pullFirst(unit, now, ahead), { pace: 'soon' });
    if (pulled > 0) log.warn({ deliveries: pulled }, 'webhooks were stored by a clock that was ahead; they are due');
  } catch (err) {
    log[levelOf(err)](
      { err },
      'webhooks of a clock that was ahead could not be made due; they are sent at their times',
    );
  }
}
