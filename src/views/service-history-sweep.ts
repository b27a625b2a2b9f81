import { daysInMicros, type Sweep } from '../platform/database/sweep.ts';
import {
  findOldestServiceRow,
  findOldServiceRows,
  removeServiceRow,
  type ServiceRowKey,
} from './service-history-repository.ts';

const KEPT_DAYS = 30;

/** Deletes figures of the service that are older than KEPT_DAYS. */
export const serviceHistorySweep = (): Sweep<ServiceRowKey> => ({
  kind: 'service_history',
  keptForMicros: daysInMicros(KEPT_DAYS),
  async *find(sql, before) {
    for (let last = ''; ; ) {
      const found = await findOldServiceRows(sql, before);
      const [first] = found;
      // The same first row was found before, so it could not be deleted.
      if (!first || JSON.stringify(first) === last) return;
      yield { found, oldestAt: first.at };
      last = JSON.stringify(first);
    }
  },
  remove: removeServiceRow,
  oldestAt: findOldestServiceRow,
});
