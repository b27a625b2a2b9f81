import type { Sql } from '../../../platform/database/sql.ts';
import { daysInMicros, type Sweep } from '../../../platform/database/sweep.ts';
import { idsFrom } from '../../../runtime/ids.ts';
import { removeAttempts } from './attempt-repository.ts';
import * as repository from './delivery-sweep-repository.ts';

async function* applications(sql: Sql): AsyncGenerator<string> {
  for (let next = await repository.findNextApplication(sql, ''); next !== undefined; ) {
    yield next;
    next = await repository.findNextApplication(sql, next);
  }
}

/**
 * Removes old events, unless their deliveries are pending, application by application, along their ids, which rise with
 * time.
 */
export const deliverySweep = ({ keptDays }: { keptDays: number }): Sweep<repository.EndedDelivery> => ({
  kind: 'deliveries',
  keptForMicros: daysInMicros(keptDays),
  async *find(sql, before) {
    const end = idsFrom('msg', before);
    for await (const applicationId of applications(sql)) {
      let after = '';
      for (;;) {
        const last = await repository.findLastOfPage(sql, applicationId, { after, before: end });
        if (last === undefined) break;
        const found = await repository.findEndedDeliveries(sql, applicationId, { after, upTo: last, before });
        yield { found, oldestAt: found[0]?.createdAt };
        after = last;
      }
    }
  },
  async remove(unit, ended, before) {
    const { applicationId, lastOfPage } = ended;
    const removed = await repository.removeEndedDelivery(unit, ended, before);
    // Also when this row stays: readers must know it before the first event of the page is gone.
    if (lastOfPage !== null) repository.keepRemoved(unit, applicationId, lastOfPage);
    if (removed > 0 && ended.hasFailed) await removeAttempts(unit, ended);
    return removed;
  },
  async oldestAt(sql) {
    let oldest = Number.POSITIVE_INFINITY;
    for await (const applicationId of applications(sql))
      oldest = Math.min(oldest, await repository.findOldest(sql, applicationId));
    return Number.isFinite(oldest) ? oldest : null;
  },
});
