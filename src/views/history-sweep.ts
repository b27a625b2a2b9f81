import { daysInMicros, type Sweep } from '../platform/database/sweep.ts';
import { findOldestSample, findOldSamples, type HistoryKey, removeSample } from './history-repository.ts';

const KEPT_DAYS = 30;

/** Deletes figures of the fleet that are older than KEPT_DAYS. */
export const historySweep = (): Sweep<HistoryKey> => ({
  kind: 'fleet_history',
  keptForMicros: daysInMicros(KEPT_DAYS),
  async *find(sql, before) {
    for (let last = ''; ; ) {
      const found = await findOldSamples(sql, before);
      const [first] = found;
      // The same first row was found before, so it could not be deleted.
      if (!first || JSON.stringify(first) === last) return;
      yield { found, oldestAt: first.at };
      last = JSON.stringify(first);
    }
  },
  remove: removeSample,
  oldestAt: findOldestSample,
});
