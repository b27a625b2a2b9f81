import { daysInMicros, type Sweep, sweepOfRows } from '../platform/database/sweep.ts';
import {
  findOldestServiceRow,
  findOldServiceRows,
  removeServiceRow,
  type ServiceRowKey,
} from './service-history-repository.ts';

const KEPT_DAYS = 30;

/** Deletes figures of the service that are older than KEPT_DAYS. */
export const serviceHistorySweep = (): Sweep<ServiceRowKey> =>
  sweepOfRows({
    kind: 'service_history',
    keptForMicros: daysInMicros(KEPT_DAYS),
    findOld: findOldServiceRows,
    remove: removeServiceRow,
    oldestAt: findOldestServiceRow,
  });
