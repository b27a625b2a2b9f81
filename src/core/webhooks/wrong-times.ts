import type { Database } from '../../platform/database/sql.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { ClockTrust } from '../../runtime/clock-trust.ts';
import type { Log } from '../../runtime/log.ts';
import type { DueDeliveries } from './due-deliveries.ts';
import { LATEST_ATTEMPT_MICROS } from './retry-schedule.ts';

interface Parts {
  database: Database;
  clock: Clock;
  log: Log;
  trust: Pick<ClockTrust, 'latest'>;
  rows: Pick<DueDeliveries, 'isPutOff' | 'pullDown' | 'pullFirst'>;
}

/** At a start: makes deliveries due that wait for a time which a clock that was ahead has given them. */
export async function putTimesRight({ database, clock, log, trust, rows }: Parts): Promise<void> {
  const seen = trust.latest(); // a clock that is behind makes no retry due early
  const latest = seen + LATEST_ATTEMPT_MICROS;
  if (await rows.isPutOff(database.read, latest)) {
    const pulled = await database.transact((unit) => rows.pullDown(unit, seen, latest), { pace: 'soon' });
    log.warn({ deliveries: pulled }, 'webhooks waited for a time that is too far away; they are due');
  }
  // A first attempt waits for no time: what was stored while the clock was ahead would wait until it is there again.
  const now = clock.now();
  if (seen > now) await database.transact((unit) => rows.pullFirst(unit, now, seen), { pace: 'soon' });
}
