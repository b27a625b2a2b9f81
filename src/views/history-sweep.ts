import { daysInMicros, type Sweep, sweepOfRows } from '../platform/database/sweep.ts';
import { findOldestSample, findOldSamples, type HistoryKey, removeSample } from './history-repository.ts';

const KEPT_DAYS = 30;

/** Deletes figures of the fleet that are older than KEPT_DAYS. */
export const historySweep = (): Sweep<HistoryKey> =>
  sweepOfRows({
    kind: 'fleet_history',
    keptForMicros: daysInMicros(KEPT_DAYS),
    findOld: findOldSamples,
    remove: removeSample,
    oldestAt: findOldestSample,
  });
