import { daysInMicros, ROWS_PER_READ, type Sweep, sweepOfRows } from '../../platform/database/sweep.ts';
import { deleteRemoval, findEndedBefore, oldestEnd } from './removal-repository.ts';

/** Forgets removals that have ended, when the entries of the audit log about them are removed. `keptDays`: 0 for ever. */
export const removalSweep = ({ keptDays }: { keptDays: number }): Sweep<{ removalId: string; at: number }> =>
  sweepOfRows({
    kind: 'removals',
    keptForMicros: daysInMicros(keptDays),
    findOld: (sql, before) => findEndedBefore(sql, before, ROWS_PER_READ),
    remove: (unit, { removalId }) => deleteRemoval(unit, removalId),
    oldestAt: oldestEnd,
  });
